// Layers of neural networks, for the examples that train some. A real program would have them in a library of its own.
#ifndef VIGIL_EXAMPLES_NETWORK_H_
#define VIGIL_EXAMPLES_NETWORK_H_

#include <cstdint>
#include <string>

#include "vigil/core/graph/builder.h"
#include "vigil/core/graph/graph.h"
#include "vigil/examples/digits.h"

namespace vigil::examples {

// x w + b, with weights that begin small and different. x: [batch, in].
Output Dense(Builder& b, const std::string& name, Output x, std::int64_t in, std::int64_t out);
// A convolution with filters of 5x5, what is above zero of it, and of each 2x2 the largest. x: [batch, side, side, in].
Output ConvAndPool(Builder& b, const std::string& name, Output x, std::int64_t in, std::int64_t out);

// What is fed, and what can be asked for.
struct Classifier {
  Output images;
  Output labels;
  Output loss;      // how surprised the network is by the labels, on average
  Output accuracy;  // which share of them it would have said itself
};
// Around a network that gives ten numbers for each image: `logits(b, images)`.
template <typename Logits>
Classifier MakeClassifier(Builder& b, Logits logits);
// Three parts of it.
Classifier MakeInputs(Builder& b);
void AddLossAndAccuracy(Builder& b, Output logits, Classifier* out);
// The network of train_mlp.cc, which early_stopping.cc trains as well.
Output TwoLayers(Builder& b, Output images);

template <typename Logits>
Classifier MakeClassifier(Builder& b, Logits logits) {
  Classifier out = MakeInputs(b);
  AddLossAndAccuracy(b, logits(b, out.images), &out);
  return out;
}

}  // namespace vigil::examples

#endif  // VIGIL_EXAMPLES_NETWORK_H_
