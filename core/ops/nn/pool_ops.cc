// MaxPool, AvgPool and their gradients: one number of each window, for each channel.
#include <algorithm>
#include <limits>

#include "vigil/core/ops/nn/elements.h"
#include "vigil/core/ops/nn/nn.h"
#include "vigil/core/ops/nn/window.h"

namespace vigil {
namespace {

std::vector<std::int64_t> PooledDims(const Windows& windows) {
  return {windows.batch, windows.rows.out, windows.columns.out, windows.channels};
}

// Where a window lies on an image: rows top to bottom - 1, columns left to right - 1; its elements, and those of the
// pool, have their channels side by side.
struct Place {
  std::int64_t pool = 0;   // offset in the pools
  std::int64_t first = 0;  // offset in the images of the first element
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t row_step = 0;
  std::int64_t channels = 0;

  std::int64_t At(std::int64_t row, std::int64_t column) const { return first + row * row_step + column * channels; }
};

// Calls visit(place) for each window on some images.
template <typename Visit>
void EachPlaceOn(const Windows& windows, std::int64_t begin, std::int64_t end, Visit visit) {
  const WindowAxis& rows = windows.rows;
  const WindowAxis& columns = windows.columns;
  Place place{.pool = begin * rows.out * columns.out * windows.channels,
              .row_step = columns.in * windows.channels,
              .channels = windows.channels};
  for (std::int64_t image = begin; image < end; ++image) {
    for (std::int64_t r = 0; r < rows.out; ++r) {
      const std::int64_t top = std::max<std::int64_t>(0, rows.Begin(r));
      place.rows = std::min(rows.in, rows.Begin(r) + rows.window) - top;
      for (std::int64_t k = 0; k < columns.out; ++k, place.pool += windows.channels) {
        const std::int64_t left = std::max<std::int64_t>(0, columns.Begin(k));
        place.columns = std::min(columns.in, columns.Begin(k) + columns.window) - left;
        place.first = ((image * rows.in + top) * columns.in + left) * windows.channels;
        visit(place);
      }
    }
  }
}

// On all of them, which are shared out over the threads that there are for it: windows on one image come in order.
template <typename Visit>
void EachPlace(const KernelContext& c, const Windows& windows, Visit visit) {
  const std::int64_t elements = windows.rows.out * windows.columns.out * windows.rows.window * windows.columns.window;
  const auto cost = static_cast<std::int64_t>(kCostOfElement * static_cast<double>(elements * windows.channels));
  c.ParallelFor(windows.batch, cost,
                [&](std::int64_t begin, std::int64_t end) { EachPlaceOn(windows, begin, end, visit); });
}

// Calls visit(offset in the images of channel 0) for each element of the window but the first one.
template <typename Visit>
void EachOther(const Place& place, Visit visit) {
  for (std::int64_t row = 0; row < place.rows; ++row) {
    for (std::int64_t column = row == 0 ? 1 : 0; column < place.columns; ++column) visit(place.At(row, column));
  }
}

absl::StatusOr<Windows> Pool(const KernelContext& c, const Shape& images) {
  VIGIL_RETURN_IF_ERROR(CheckWindowAttrs(c));
  VIGIL_ASSIGN_OR_RETURN(const std::vector<std::int64_t> size, FourNumbers(c, "ksize", "ksize"));
  VIGIL_ASSIGN_OR_RETURN(const std::vector<std::int64_t> strides, FourNumbers(c, "strides", "strides"));
  if (images.rank() != 4) {
    return InvalidArgument("tensor_in_shape must have 2 spatial dimensions. {} 0", images.rank());
  }
  return PlaceWindows(c, images, size[1], size[2], strides);
}

// The same where it is asked which element is the largest (FindLargest()).
absl::StatusOr<Windows> PoolOfLargest(const KernelContext& c, const Shape& images) {
  VIGIL_ASSIGN_OR_RETURN(const Windows windows, Pool(c, images));
  const std::int64_t reach = std::min(windows.rows.in, windows.rows.window) * windows.columns.in * windows.channels;
  if (reach <= std::numeric_limits<std::int32_t>::max()) return windows;
  return InvalidArgument("A window of '{}' reaches over {} elements of an image: 2^31 - 1 at most.", c.node().name,
                         reach);
}

// Channels that are looked at together, each in a register's place of its own.
constexpr std::int64_t kChannelsTogether = 8;

// Where the first of the largest elements is, counted from the window's first one, of some channels (EachStretch).
// Which one it is, nobody can foresee: there is no branch.
template <typename T, typename Channels>
void FindLargest(const T* image, const Place& place, Channels channels, std::int32_t* found) {
  T largest[kChannelsTogether];
  for (std::int64_t i = 0; i < channels; ++i) largest[i] = image[place.first + i];
  for (std::int64_t i = 0; i < channels; ++i) found[i] = 0;
  EachOther(place, [&](std::int64_t at) {
    const auto further = static_cast<std::int32_t>(at - place.first);
    for (std::int64_t i = 0; i < channels; ++i) {
      const T element = image[at + i];
      const bool larger = largest[i] < element;
      largest[i] = larger ? element : largest[i];
      found[i] = larger ? further : found[i];
    }
  });
}

// Calls visit(channel, offset of the first of its largest elements) for each channel of a window.
template <typename T, typename Visit>
void EachLargest(const T* image, const Place& place, Visit visit) {
  EachStretch<kChannelsTogether>(place.channels, [&](std::int64_t begin, auto channels) {
    std::int32_t found[kChannelsTogether];
    FindLargest(image + begin, place, channels, found);
    for (std::int64_t i = 0; i < channels; ++i) visit(begin + i, place.first + begin + found[i] + i);
  });
}

// The largest elements themselves. As TensorFlow's, from the lowest finite one on: what is not a number is passed over.
template <typename T, typename Channels>
void TakeLargest(const T* image, const Place& place, Channels channels, T* to) {
  constexpr T kLowest = std::numeric_limits<T>::lowest();
  T largest[kChannelsTogether];
  for (std::int64_t i = 0; i < channels; ++i) {
    largest[i] = kLowest < image[place.first + i] ? image[place.first + i] : kLowest;
  }
  EachOther(place, [&](std::int64_t at) {
    for (std::int64_t i = 0; i < channels; ++i) largest[i] = largest[i] < image[at + i] ? image[at + i] : largest[i];
  });
  for (std::int64_t i = 0; i < channels; ++i) to[i] = largest[i];
}

absl::Status MaxPoolKernel(KernelContext& c) {
  const Tensor& in = c.input(0);
  VIGIL_ASSIGN_OR_RETURN(const Windows windows, Pool(c, in.shape()));
  VIGIL_ASSIGN_OR_RETURN(Tensor out, Tensor::MakeUnwritten(in.dtype(), PooledDims(windows)));
  if (out.num_elements() > 0) {
    const bool known = ForNumeric(in.dtype(), [&]<typename T>() {
      const T* const image = in.flat<T>().data();
      T* const to = out.mutable_flat<T>().data();
      EachPlace(c, windows, [&](const Place& place) {
        EachStretch<kChannelsTogether>(place.channels, [&](std::int64_t begin, auto channels) {
          TakeLargest(image + begin, place, channels, to + place.pool + begin);
        });
      });
    });
    if (!known) return NoKernel(c);
  }
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

absl::Status AvgPoolKernel(KernelContext& c) {
  const Tensor& in = c.input(0);
  VIGIL_ASSIGN_OR_RETURN(const Windows windows, Pool(c, in.shape()));
  VIGIL_ASSIGN_OR_RETURN(Tensor out, Tensor::MakeUnwritten(in.dtype(), PooledDims(windows)));
  if (out.num_elements() > 0) {
    ForFloating(in.dtype(), [&]<typename T>() {
      const T* const image = in.flat<T>().data();
      T* const to = out.mutable_flat<T>().data();
      EachPlace(c, windows, [&](const Place& place) {
        T* const sum = to + place.pool;
        std::copy_n(image + place.first, place.channels, sum);
        EachOther(place, [&](std::int64_t at) {
          for (std::int64_t i = 0; i < place.channels; ++i) sum[i] += image[at + i];
        });
        for (std::int64_t i = 0; i < place.channels; ++i) sum[i] /= static_cast<T>(place.rows * place.columns);
      });
    });
  }
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

absl::Status CheckPooled(const Windows& windows, const Shape& given, const char* what) {
  if (given.dims() == PooledDims(windows)) return absl::OkStatus();
  return InvalidArgument("Expected {} shape to be [{}], but got {}", what, fmt::join(PooledDims(windows), ","),
                         given.ToString());
}

// The first of the largest has the gradient.
absl::Status MaxPoolGradKernel(KernelContext& c) {
  const Tensor& in = c.input(0);
  VIGIL_ASSIGN_OR_RETURN(const Windows windows, PoolOfLargest(c, in.shape()));
  VIGIL_RETURN_IF_ERROR(CheckPooled(windows, c.input(1).shape(), "orig_output"));
  VIGIL_RETURN_IF_ERROR(CheckPooled(windows, c.input(2).shape(), "grad"));
  VIGIL_ASSIGN_OR_RETURN(Tensor out, Tensor::Make(in.dtype(), in.shape().dims()));
  if (c.input(2).num_elements() > 0) {
    const bool known = ForNumeric(in.dtype(), [&]<typename T>() {
      const T* const image = in.flat<T>().data();
      const T* const grad = c.input(2).flat<T>().data();
      T* const to = out.mutable_flat<T>().data();
      EachPlace(c, windows, [&](const Place& place) {
        EachLargest(image, place, [&](std::int64_t channel, std::int64_t at) {
          to[at] = WrappingSum(to[at], grad[place.pool + channel]);
        });
      });
    });
    if (!known) return NoKernel(c);
  }
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

// The gradient of that: each window's largest element passes on what it gets.
absl::Status MaxPoolGradGradKernel(KernelContext& c) {
  const Tensor& in = c.input(0);
  VIGIL_ASSIGN_OR_RETURN(const Windows windows, PoolOfLargest(c, in.shape()));
  VIGIL_RETURN_IF_ERROR(CheckPooled(windows, c.input(1).shape(), "orig_output"));
  if (c.input(2).shape() != in.shape()) {
    return InvalidArgument("Expected grad shape to be {}, but got {}", in.shape().ToString(),
                           c.input(2).shape().ToString());
  }
  VIGIL_ASSIGN_OR_RETURN(Tensor out, Tensor::MakeUnwritten(in.dtype(), PooledDims(windows)));
  if (out.num_elements() > 0) {
    const bool known = ForNumeric(in.dtype(), [&]<typename T>() {
      const T* const image = in.flat<T>().data();
      const T* const grad = c.input(2).flat<T>().data();
      T* const to = out.mutable_flat<T>().data();
      EachPlace(c, windows, [&](const Place& place) {
        EachLargest(image, place, [&](std::int64_t channel, std::int64_t at) { to[place.pool + channel] = grad[at]; });
      });
    });
    if (!known) return NoKernel(c);
  }
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

absl::Status AvgPoolGradKernel(KernelContext& c) {
  if (c.input(0).shape().rank() != 1 || c.input(0).num_elements() != 4) {
    return InvalidArgument("out_backprop: orig_input_shape must be 1-dimensional and 4 elements");
  }
  VIGIL_ASSIGN_OR_RETURN(std::vector<std::int64_t> dims, Integers(c.input(0)));
  VIGIL_ASSIGN_OR_RETURN(const Shape images, Shape::Make(std::move(dims)));
  VIGIL_ASSIGN_OR_RETURN(const Windows windows, Pool(c, images));
  VIGIL_RETURN_IF_ERROR(CheckPooled(windows, c.input(1).shape(), "grad"));
  VIGIL_ASSIGN_OR_RETURN(Tensor out, Tensor::Make(c.input(1).dtype(), images.dims()));
  if (c.input(1).num_elements() > 0) {
    ForFloating(out.dtype(), [&]<typename T>() {
      const T* const grad = c.input(1).flat<T>().data();
      T* const to = out.mutable_flat<T>().data();
      EachPlace(c, windows, [&](const Place& place) {
        const auto count = static_cast<T>(place.rows * place.columns);
        const T* const from = grad + place.pool;
        for (std::int64_t row = 0; row < place.rows; ++row) {
          for (std::int64_t column = 0; column < place.columns; ++column) {
            T* const sum = to + place.At(row, column);
            for (std::int64_t i = 0; i < place.channels; ++i) sum[i] += from[i] / count;
          }
        }
      });
    });
  }
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

using PoolTypesOr = absl::StatusOr<std::vector<DType>>;

PoolTypesOr PoolTypes(const Node& node, DType type) {
  VIGIL_RETURN_IF_ERROR(RequireAttr<std::vector<std::int64_t>>(node, "ksize"));
  return WindowTypes(node, type);
}

template <Elements kWhich>
PoolTypesOr PlainPoolTypes(const Node& node, const std::vector<DType>& inputs) {
  VIGIL_RETURN_IF_ERROR(OneTypeOf<kWhich>(node, inputs).status());
  return PoolTypes(node, inputs[0]);
}

PoolTypesOr AvgPoolGradTypes(const Node& node, const std::vector<DType>& inputs) {
  VIGIL_RETURN_IF_ERROR(RequireType(node, inputs, 0, {DType::kInt32}));
  VIGIL_RETURN_IF_ERROR(RequireType(node, inputs, 1, {DType::kFloat, DType::kDouble}));
  return PoolTypes(node, inputs[1]);
}

}  // namespace

void RegisterPoolOps(OpRegistry& registry) {
  constexpr Elements kAll = Elements::kNumeric;
  registry.Register({.name = "MaxPool", .inputs = 1, .output_types = PlainPoolTypes<kAll>, .compute = MaxPoolKernel});
  registry.Register(
      {.name = "MaxPoolGrad", .inputs = 3, .output_types = PlainPoolTypes<kAll>, .compute = MaxPoolGradKernel});
  registry.Register(
      {.name = "MaxPoolGradGrad", .inputs = 3, .output_types = PlainPoolTypes<kAll>, .compute = MaxPoolGradGradKernel});
  registry.Register(
      {.name = "AvgPool", .inputs = 1, .output_types = PlainPoolTypes<Elements::kFloating>, .compute = AvgPoolKernel});
  registry.Register(
      {.name = "AvgPoolGrad", .inputs = 2, .output_types = AvgPoolGradTypes, .compute = AvgPoolGradKernel});
}

}  // namespace vigil
