// What a run looks like: the list, and the two files made from it.
#include "vigil/replays/timeline.h"

#include <gtest/gtest.h>
