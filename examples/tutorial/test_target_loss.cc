#include <vigil/properties/verify/verify_hook.h>

#include <memory>

#include "target_loss.h"

VIGIL_VERIFY_HOOK(TargetLoss,
                  [](vigil::HookWorld& w) { return std::make_unique<TargetLoss>(w.env(), w.loss(), 0.3F); });
