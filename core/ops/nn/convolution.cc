#include "vigil/core/ops/nn/convolution.h"

#include <algorithm>
#include <utility>

#include "absl/status/statusor.h"
#include "vigil/core/base/spin_lock.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/ops/math/parallel_product.h"

namespace vigil {
namespace {

// A product of fewer columns takes as long as one of these.
constexpr std::int64_t kColumnsOfAProduct = 8;

// As ParallelForStretches(), of work that may fail: the first error, in the ranges' order.
template <typename Work>
absl::Status TryParallelFor(const KernelContext& c, std::int64_t n, std::int64_t together, std::int64_t cost,
                            Work work) {
  SpinLock lock;
  absl::Status first;
  std::int64_t at = n;
  ParallelForStretches(c, n, together, cost, [&](std::int64_t begin, std::int64_t end) {
    absl::Status status = work(begin, end);
    if (status.ok()) return;
    const SpinGuard guard(lock);
    if (begin >= at) return;
    at = begin;
    first = std::move(status);
  });
  return first;
}

// The same for the images of a batch.
template <typename Work>
absl::Status TryEachImage(const KernelContext& c, const Convolution& conv, Work work) {
  const std::int64_t cost = CostOfProducts(conv.places() * conv.patch() * conv.filters);
  return TryParallelFor(c, conv.windows.batch, 1, cost, std::move(work));
}

// Offsets of rows * columns places.
struct Grid {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t row_step = 0;
  std::int64_t column_step = 0;

  std::vector<std::int64_t> Offsets() const {
    std::vector<std::int64_t> out;
    out.reserve(static_cast<std::size_t>(rows * columns));
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t k = 0; k < columns; ++k) out.push_back(r * row_step + k * column_step);
    }
    return out;
  }
};

// A picture (of images or of gradients) with room around it, filled with one of them after the other.
struct Frame {
  std::int64_t before_rows = 0;
  std::int64_t before_columns = 0;
  std::int64_t rows = 0;  // with what is around
  std::int64_t columns = 0;
  std::int64_t channels = 0;

  std::int64_t row_step() const { return columns * channels; }
};

template <typename T>
class Framed {
 public:
  // RESOURCE_EXHAUSTED: no memory for the room around.
  static absl::StatusOr<Framed> Make(const Frame& frame, std::int64_t rows, std::int64_t columns) {
    Framed out;
    out.frame_ = frame;
    out.rows_ = rows;
    out.columns_ = columns;
    if (frame.rows == rows && frame.columns == columns) return out;
    VIGIL_ASSIGN_OR_RETURN(out.memory_, Tensor::Make(DTypeOf<T>(), {frame.rows, frame.columns, frame.channels}));
    return out;
  }
  const T* Put(const T* picture) {
    if (!memory_.valid()) return picture;
    T* const all = memory_.template mutable_flat<T>().data();
    const std::int64_t n = columns_ * frame_.channels;
    for (std::int64_t r = 0; r < rows_; ++r) {
      T* const to = all + (frame_.before_rows + r) * frame_.row_step() + frame_.before_columns * frame_.channels;
      std::copy_n(picture + r * n, n, to);
    }
    return all;
  }

 private:
  Frame frame_;
  std::int64_t rows_ = 0;
  std::int64_t columns_ = 0;
  Tensor memory_;  // invalid: there is nothing around
};

// How many rows the windows reach over, counted from where the first one begins.
std::int64_t Reach(const WindowAxis& axis) {
  return std::max(axis.before + axis.in, (axis.out - 1) * axis.stride + axis.window);
}

Frame FrameOfImage(const Convolution& conv) {
  const Windows& windows = conv.windows;
  return {.before_rows = windows.rows.before,
          .before_columns = windows.columns.before,
          .rows = Reach(windows.rows),
          .columns = Reach(windows.columns),
          .channels = windows.channels};
}

std::vector<std::int64_t> ElementsOfFilter(const Convolution& conv, const Frame& frame) {
  std::vector<std::int64_t> out;
  out.reserve(static_cast<std::size_t>(conv.patch()));
  for (std::int64_t r = 0; r < conv.filter_rows; ++r) {
    for (std::int64_t k = 0; k < conv.filter_columns; ++k) {
      const std::int64_t first = conv.Row(r) * frame.row_step() + conv.Column(k) * frame.channels;
      for (std::int64_t c = 0; c < conv.depth; ++c) out.push_back(first + c);
    }
  }
  return out;
}

// Where in the frame of an image the windows begin, and where in a window the filter's elements are.
struct Patches {
  Patches(const Convolution& conv, const Frame& frame)
      : places(Grid{.rows = conv.windows.rows.out,
                    .columns = conv.windows.columns.out,
                    .row_step = conv.windows.rows.stride * frame.row_step(),
                    .column_step = conv.windows.columns.stride * frame.channels}
                   .Offsets()),
        elements(ElementsOfFilter(conv, frame)) {}
  std::vector<std::int64_t> places;
  std::vector<std::int64_t> elements;
};

// For each group a matrix: a row for each of the weights that are listed, with the channels as columns.
template <typename T>
absl::StatusOr<Tensor> Turned(const Convolution& conv, const Tensor& filter, const std::vector<std::int64_t>& weights) {
  const auto listed = static_cast<std::int64_t>(weights.size());
  VIGIL_ASSIGN_OR_RETURN(Tensor out, Tensor::MakeUnwritten(DTypeOf<T>(), {conv.groups(), listed, conv.depth}));
  T* to = out.mutable_flat<T>().data();
  for (std::int64_t g = 0; g < conv.groups(); ++g) {
    const T* const from = filter.flat<T>().data() + g * conv.group_filters();
    for (const std::int64_t weight : weights) {
      for (std::int64_t channel = 0; channel < conv.depth; ++channel) *to++ = from[weight + channel * conv.filters];
    }
  }
  return out;
}

// Windows that move by one: each element of the image gets what the gradients around it, under the filter turned round,
// come to. That is a convolution, too.
template <typename T>
absl::Status BackToInputByOne(const KernelContext& c, const Convolution& conv, const Tensor& filter, const Tensor& grad,
                              Tensor& out) {
  const Windows& windows = conv.windows;
  const auto before = [](const WindowAxis& axis) { return axis.window - 1 - axis.before; };
  const Frame frame{.before_rows = before(windows.rows),
                    .before_columns = before(windows.columns),
                    .rows = windows.rows.in + windows.rows.window - 1,
                    .columns = windows.columns.in + windows.columns.window - 1,
                    .channels = conv.filters};
  const std::vector<std::int64_t> places = Grid{.rows = windows.rows.in,
                                                .columns = windows.columns.in,
                                                .row_step = frame.row_step(),
                                                .column_step = frame.channels}
                                               .Offsets();
  // The filter's elements from the last to the first.
  std::vector<std::int64_t> elements, weights;
  for (std::int64_t r = conv.filter_rows; r-- > 0;) {
    for (std::int64_t k = conv.filter_columns; k-- > 0;) {
      for (std::int64_t f = 0; f < conv.group_filters(); ++f) {
        elements.push_back((windows.rows.window - 1 - conv.Row(r)) * frame.row_step() +
                           (windows.columns.window - 1 - conv.Column(k)) * frame.channels + f);
        weights.push_back((r * conv.filter_columns + k) * conv.depth * conv.filters + f);
      }
    }
  }
  const ProductSize size{.rows = windows.rows.in * windows.columns.in,
                         .columns = conv.depth,
                         .depth = static_cast<std::int64_t>(elements.size())};
  VIGIL_ASSIGN_OR_RETURN(const Tensor turned, Turned<T>(conv, filter, weights));
  T* const all = out.mutable_flat<T>().data();
  return TryEachImage(c, conv, [&](std::int64_t begin, std::int64_t end) -> absl::Status {
    VIGIL_ASSIGN_OR_RETURN(Framed<T> framed, Framed<T>::Make(frame, windows.rows.out, windows.columns.out));
    for (std::int64_t i = begin; i < end; ++i) {
      const T* const gradients = framed.Put(grad.flat<T>().data() + i * conv.places() * conv.filters);
      for (std::int64_t g = 0; g < conv.groups(); ++g) {
        const std::int64_t first = g * conv.group_filters();
        const MatrixOperand<T> left{gradients + first, {.at = places.data()}, {.at = elements.data()}};
        const auto right = RowMajor(turned.flat<T>().data() + g * size.depth * conv.depth, conv.depth);
        Multiply(size, left, right, all + i * conv.image() + g * conv.depth, windows.channels);
      }
    }
    return absl::OkStatus();
  });
}

template <typename T>
void AddShifted(const Convolution& conv, const T* given, std::int64_t columns, std::int64_t plane, T* planes) {
  const Windows& windows = conv.windows;
  for (std::int64_t r = 0; r < conv.filter_rows; ++r) {
    for (std::int64_t k = 0; k < conv.filter_columns; ++k) {
      for (std::int64_t channel = 0; channel < conv.depth; ++channel) {
        T* to = planes + channel * plane + conv.Row(r) * columns + conv.Column(k);
        for (std::int64_t row = 0; row < windows.rows.out; ++row, to += columns, given += windows.columns.out) {
          for (std::int64_t j = 0; j < windows.columns.out; ++j) to[j] += given[j];
        }
      }
    }
  }
}

// What lies on the image, with its channels side by side.
template <typename T>
void FromPlanes(const Convolution& conv, const T* planes, std::int64_t columns, std::int64_t plane, T* image) {
  const Windows& windows = conv.windows;
  for (std::int64_t channel = 0; channel < conv.depth; ++channel, planes += plane) {
    for (std::int64_t row = 0; row < windows.rows.in; ++row) {
      const T* const from = planes + (windows.rows.before + row) * columns + windows.columns.before;
      T* const to = image + row * windows.columns.in * windows.channels + channel;
      for (std::int64_t j = 0; j < windows.columns.in; ++j) to[j * windows.channels] = from[j];
    }
  }
}

// The same of so few channels that they would not fill the columns of a product: its columns are the windows, and its
// rows, one for each element of the filter, are added up on a plane for each channel, shifted by where that element is.
template <typename T>
absl::Status BackToInputByPlanes(const KernelContext& c, const Convolution& conv, const Tensor& filter,
                                 const Tensor& grad, Tensor& out) {
  const Windows& windows = conv.windows;
  const std::int64_t columns = Reach(windows.columns);
  const std::int64_t plane = Reach(windows.rows) * columns;
  const ProductSize size{.rows = conv.patch(), .columns = conv.places(), .depth = conv.group_filters()};
  T* const all = out.mutable_flat<T>().data();
  return TryEachImage(c, conv, [&](std::int64_t begin, std::int64_t end) -> absl::Status {
    VIGIL_ASSIGN_OR_RETURN(Tensor product, Tensor::MakeUnwritten(DTypeOf<T>(), {conv.patch(), conv.places()}));
    VIGIL_ASSIGN_OR_RETURN(Tensor memory, Tensor::MakeUnwritten(DTypeOf<T>(), {conv.depth, plane}));
    T* const given = product.mutable_flat<T>().data();
    T* const planes = memory.mutable_flat<T>().data();
    for (std::int64_t i = begin; i < end; ++i) {
      for (std::int64_t g = 0; g < conv.groups(); ++g) {
        const std::int64_t first = g * size.depth;
        const auto weights = RowMajor(filter.flat<T>().data() + first, conv.filters);
        const auto from = RowMajor(grad.flat<T>().data() + i * conv.places() * conv.filters + first, conv.filters,
                                   /*transposed=*/true);
        Multiply(size, weights, from, given, conv.places());
        std::fill_n(planes, conv.depth * plane, T(0));
        AddShifted(conv, given, columns, plane, planes);
        FromPlanes(conv, planes, columns, plane, all + i * conv.image() + g * conv.depth);
      }
    }
    return absl::OkStatus();
  });
}

// Calls visit(where on the image, where in the patch) for each element of the filter that lies on the image at a place:
// there begin the channels of one element.
template <typename Visit>
void EachElementAt(const Convolution& conv, std::int64_t place, Visit visit) {
  const Windows& windows = conv.windows;
  const std::int64_t top = windows.rows.Begin(place / windows.columns.out);
  const std::int64_t left = windows.columns.Begin(place % windows.columns.out);
  for (std::int64_t r = 0; r < conv.filter_rows; ++r) {
    const std::int64_t row = top + conv.Row(r);
    if (row < 0 || row >= windows.rows.in) continue;
    for (std::int64_t k = 0; k < conv.filter_columns; ++k) {
      const std::int64_t column = left + conv.Column(k);
      if (column < 0 || column >= windows.columns.in) continue;
      visit((row * windows.columns.in + column) * windows.channels, (r * conv.filter_columns + k) * conv.depth);
    }
  }
}

template <typename T>
void AddPatches(const Convolution& conv, const T* patches, T* image) {
  for (std::int64_t place = 0; place < conv.places(); ++place, patches += conv.patch()) {
    EachElementAt(conv, place, [&](std::int64_t on_image, std::int64_t in_patch) {
      for (std::int64_t c = 0; c < conv.depth; ++c) image[on_image + c] += patches[in_patch + c];
    });
  }
}

template <typename T>
absl::Status ToImages(const KernelContext& c, const Convolution& conv, const Tensor& images, const Tensor& filter,
                      Tensor& out) {
  const Frame frame = FrameOfImage(conv);
  const Patches patches(conv, frame);
  const ProductSize size{.rows = conv.places(), .columns = conv.group_filters(), .depth = conv.patch()};
  T* const all = out.mutable_flat<T>().data();
  const auto some = [&](std::int64_t begin, std::int64_t end) -> absl::Status {
    VIGIL_ASSIGN_OR_RETURN(Framed<T> framed, Framed<T>::Make(frame, conv.windows.rows.in, conv.windows.columns.in));
    for (std::int64_t i = begin; i < end; ++i) {
      const T* const image = framed.Put(images.flat<T>().data() + i * conv.image());
      T* const to = all + i * conv.places() * conv.filters;
      for (std::int64_t g = 0; g < conv.groups(); ++g) {
        const MatrixOperand<T> left{
            image + g * conv.depth, {.at = patches.places.data()}, {.at = patches.elements.data()}};
        const auto weights = RowMajor(filter.flat<T>().data() + g * size.columns, conv.filters);
        Multiply(size, left, weights, to + g * size.columns, conv.filters);
      }
    }
    return absl::OkStatus();
  };
  return TryEachImage(c, conv, some);
}

// Each element is a sum over all images, in their order: what is shared out are the rows of the product, which are the
// elements of a patch.
template <typename T>
absl::Status BackToFilter(const KernelContext& c, const Convolution& conv, const Tensor& images, const Tensor& grad,
                          Tensor& out) {
  const Frame frame = FrameOfImage(conv);
  const Patches patches(conv, frame);
  const ProductSize size{.rows = conv.patch(), .columns = conv.group_filters(), .depth = conv.places()};
  T* const all = out.mutable_flat<T>().data();
  const auto some = [&](std::int64_t row, std::int64_t end) -> absl::Status {
    VIGIL_ASSIGN_OR_RETURN(Framed<T> framed, Framed<T>::Make(frame, conv.windows.rows.in, conv.windows.columns.in));
    ProductSize part = size;
    part.rows = end - row;
    for (std::int64_t i = 0; i < conv.windows.batch; ++i) {
      const T* const image = framed.Put(images.flat<T>().data() + i * conv.image());
      const T* const from = grad.flat<T>().data() + i * conv.places() * conv.filters;
      for (std::int64_t g = 0; g < conv.groups(); ++g) {
        const MatrixOperand<T> left{
            image + g * conv.depth, {.at = patches.elements.data()}, {.at = patches.places.data()}};
        const auto right = RowMajor(from + g * size.columns, conv.filters);
        T* const to = all + row * conv.filters + g * size.columns;
        Multiply(part, left.FromRow(row), right, to, conv.filters, /*add=*/i > 0);
      }
    }
    return absl::OkStatus();
  };
  const std::int64_t cost = CostOfProducts(kRowsTogether * conv.places() * conv.filters) * conv.windows.batch;
  return TryParallelFor(c, size.rows, kRowsTogether, cost, some);
}

// Windows that move by more: what each of them gives back is added where it lies.
template <typename T>
absl::Status BackToInput(const KernelContext& c, const Convolution& conv, const Tensor& filter, const Tensor& grad,
                         Tensor& out) {
  const Windows& windows = conv.windows;
  if (windows.rows.stride == 1 && windows.columns.stride == 1) {
    return conv.depth < kColumnsOfAProduct ? BackToInputByPlanes<T>(c, conv, filter, grad, out)
                                           : BackToInputByOne<T>(c, conv, filter, grad, out);
  }
  const ProductSize size{.rows = conv.places(), .columns = conv.patch(), .depth = conv.group_filters()};
  T* const all = out.mutable_flat<T>().data();
  const auto some = [&](std::int64_t begin, std::int64_t end) -> absl::Status {
    VIGIL_ASSIGN_OR_RETURN(Tensor memory, Tensor::MakeUnwritten(DTypeOf<T>(), {conv.places(), conv.patch()}));
    T* const patches = memory.mutable_flat<T>().data();
    for (std::int64_t i = begin; i < end; ++i) {
      T* const image = all + i * conv.image();
      std::fill_n(image, conv.image(), T(0));
      for (std::int64_t g = 0; g < conv.groups(); ++g) {
        const std::int64_t first = g * size.depth;
        const auto from = RowMajor(grad.flat<T>().data() + i * conv.places() * conv.filters + first, conv.filters);
        const auto weights = RowMajor(filter.flat<T>().data() + first, conv.filters, /*transposed=*/true);
        Multiply(size, from, weights, patches, conv.patch());
        AddPatches(conv, patches, image + g * conv.depth);
      }
    }
    return absl::OkStatus();
  };
  return TryEachImage(c, conv, some);
}

// By how much the axis was shortened before the image. An element that is drawn in lies beside the image at every
// place, as it did before.
std::int64_t DrawInAxis(WindowAxis& axis) {
  const std::int64_t before = std::min(axis.before, (std::max<std::int64_t>(axis.out, 1) - 1) * axis.stride + 1);
  const std::int64_t cut = axis.before - before;
  axis.before = before;
  axis.window = std::min(axis.window - cut, before + axis.in + 1);
  return cut;
}

}  // namespace

void Convolution::DrawIn() {
  row_cut = DrawInAxis(windows.rows);
  column_cut = DrawInAxis(windows.columns);
}

template <typename T>
absl::Status Convolve(const KernelContext& c, const Convolution& conv, const Tensor& images, const Tensor& filter,
                      Tensor& out) {
  return ToImages<T>(c, conv, images, filter, out);
}
template <typename T>
absl::Status ConvolveBackToInput(const KernelContext& c, const Convolution& conv, const Tensor& filter,
                                 const Tensor& grad, Tensor& out) {
  return BackToInput<T>(c, conv, filter, grad, out);
}
template <typename T>
absl::Status ConvolveBackToFilter(const KernelContext& c, const Convolution& conv, const Tensor& images,
                                  const Tensor& grad, Tensor& out) {
  return BackToFilter<T>(c, conv, images, grad, out);
}

template absl::Status Convolve<float>(const KernelContext&, const Convolution&, const Tensor&, const Tensor&, Tensor&);
template absl::Status ConvolveBackToInput<float>(const KernelContext&, const Convolution&, const Tensor&, const Tensor&,
                                                 Tensor&);
template absl::Status ConvolveBackToFilter<float>(const KernelContext&, const Convolution&, const Tensor&,
                                                  const Tensor&, Tensor&);
template absl::Status Convolve<double>(const KernelContext&, const Convolution&, const Tensor&, const Tensor&, Tensor&);
template absl::Status ConvolveBackToInput<double>(const KernelContext&, const Convolution&, const Tensor&,
                                                  const Tensor&, Tensor&);
template absl::Status ConvolveBackToFilter<double>(const KernelContext&, const Convolution&, const Tensor&,
                                                   const Tensor&, Tensor&);

}  // namespace vigil
