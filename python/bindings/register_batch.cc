// SPDX-License-Identifier: Apache-2.0
#include <nanobind/ndarray.h>

#include <algorithm>

#include "py_batch.h"
#include "register.h"

namespace headrace::python {
namespace nb = nanobind;
namespace {

/// One value of each slot, copied.
template <class T, class Read>
nb::ndarray<nb::numpy, T, nb::ndim<1>> of_slots(const PyBatch& self, Read read) {
  const auto& slots = self.batch->slots;
  auto* const values = new T[slots.size()];
  const nb::capsule owner(values, [](void* block) noexcept { delete[] static_cast<T*>(block); });
  std::transform(slots.begin(), slots.end(), values, read);
  return {values, {slots.size()}, owner};
}

/// NumPy has no bfloat16: its bits come as int16, which torch.Tensor.view turns into them.
nb::dlpack::dtype type_of(Layout layout) {
  switch (layout) {
    case Layout::nchw_f32:
      return nb::dtype<float>();
    case Layout::nchw_f16:
      return {static_cast<std::uint8_t>(nb::dlpack::dtype_code::Float), 16, 1};
    case Layout::nchw_bf16:
      return nb::dtype<std::int16_t>();
    default:
      return nb::dtype<std::uint8_t>();
  }
}

/// The batch's own memory; the batch lives as long as any such array.
nb::ndarray<nb::numpy> images(nb::handle self) {
  auto& of = nb::cast<PyBatch&>(self);
  const Transform& t = of.transform;
  const std::size_t count = of.batch->count();
  const bool last = t.layout == Layout::nhwc_u8;
  const std::array<std::size_t, 4> shape{count, last ? t.height : t.channels(),
                                         last ? t.width : t.height, last ? t.channels() : t.width};
  return {of.batch->pixels().data(), shape.size(), shape.data(), self, nullptr, type_of(t.layout)};
}

nb::ndarray<nb::numpy, float, nb::ndim<2>> labels(nb::handle self) {
  auto& batch = *nb::cast<PyBatch&>(self).batch;
  return {batch.labels.data(), {batch.count(), batch.label_width}, self};
}

}  // namespace

void register_batch(nb::module_& module) {
  nb::class_<PyBatch>(module, "Batch")
      .def("__len__", [](const PyBatch& self) { return self.batch->count(); })
      .def_prop_ro("epoch", [](const PyBatch& self) { return self.batch->epoch; })
      .def_prop_ro("step", [](const PyBatch& self) { return self.batch->step; })
      .def_prop_ro("images", &images)
      .def_prop_ro("labels", &labels)
      .def_prop_ro(
          "positions",
          [](const PyBatch& self) {
            return of_slots<std::uint64_t>(self, [](const Slot& s) { return s.position; });
          },
          nb::rv_policy::automatic)
      .def_prop_ro(
          "sample_ids",
          [](const PyBatch& self) {
            return of_slots<std::uint64_t>(self, [](const Slot& s) { return s.sample_id; });
          },
          nb::rv_policy::automatic)
      .def_prop_ro(
          "padding",
          [](const PyBatch& self) {
            return of_slots<bool>(self, [](const Slot& s) { return s.padding; });
          },
          nb::rv_policy::automatic)
      .def_prop_ro(
          "substitute",
          [](const PyBatch& self) {
            return of_slots<bool>(self, [](const Slot& s) { return s.substitute; });
          },
          nb::rv_policy::automatic);
}

}  // namespace headrace::python
