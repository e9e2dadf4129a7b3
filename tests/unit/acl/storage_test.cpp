#include <doctest/doctest.h>

#include <cstring>
#include <functional>
#include <numeric>

#include "formats/acl_types.hpp"
#include "formats/storage_back.hpp"
#include "formats/storage_stream.hpp"
#include "temp_folder.hpp"

using namespace ulpscope;

namespace {

int64_t product(const Shape& shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
}

// Row-major place of an index.
int64_t flat(const Shape& shape, const Shape& index) {
  int64_t at = 0;
  for (size_t i = 0; i < shape.size(); ++i) at = at * shape[i] + index[i];
  return at;
}

// Calls visit for every index of a shape, last dimension fastest.
void for_indexes(const Shape& shape, const std::function<void(const Shape&)>& visit) {
  if (product(shape) == 0) return;
  Shape index(shape.size(), 0);
  for (;;) {
    visit(index);
    size_t i = shape.size();
    while (i > 0 && ++index[i - 1] == shape[i - 1]) index[--i] = 0;
    if (i == 0) return;
  }
}

using StoredIndex = std::function<Shape(const Shape& logical)>;

// Writes the numbers 1, 2, ... of the original order to where the format's own formula puts them, and reads
// them back through the plan, in pieces that end inside elements.
template <class T>
void check_back(const StorageQuery& query, const Shape& full_stored, const StoredIndex& stored_index) {
  std::vector<T> stored(static_cast<size_t>(product(full_stored)), T(0));
  T next = 1;
  for_indexes(query.original, [&](const Shape& index) {
    stored[static_cast<size_t>(flat(full_stored, stored_index(index)))] = next++;
  });
  const test::TempFolder folder;
  const std::string bytes(reinterpret_cast<const char*>(stored.data()), stored.size() * sizeof(T));
  auto file = File::open(folder.write("stored", "head" + bytes));
  REQUIRE(file.ok());
  auto plan = plan_storage(query);
  REQUIRE_MESSAGE(plan.ok(), (plan.ok() ? "" : plan.error().message));
  CHECK(plan->shape == query.original);
  auto stream = StorageStream::open(std::move(file).value(), 4, bytes.size(), *plan, sizeof(T));
  REQUIRE_MESSAGE(stream.ok(), (stream.ok() ? "" : stream.error().message));
  std::string got;
  std::string piece(1021, '\0');
  for (;;) {
    const auto n = (*stream)->read(std::as_writable_bytes(std::span(piece)));
    REQUIRE(n.ok());
    if (*n == 0) break;
    got.append(piece, 0, *n);
  }
  REQUIRE(got.size() == static_cast<size_t>(product(query.original)) * sizeof(T));
  int64_t wrong = 0;
  for (size_t i = 0; i < got.size() / sizeof(T); ++i) {
    T value;
    std::memcpy(&value, got.data() + i * sizeof(T), sizeof(T));
    wrong += value == static_cast<T>(i + 1) ? 0 : 1;
  }
  CHECK(wrong == 0);
}

template <class Stream>
std::string read_all(Stream& stream) {
  std::string got;
  std::string piece(1021, '\0');
  for (;;) {
    const auto n = stream.read(std::as_writable_bytes(std::span(piece)));
    REQUIRE(n.ok());
    if (*n == 0) return got;
    got.append(piece, 0, *n);
  }
}

// Stores the bytes of an original in a format and brings them back. The stored bytes.
std::string there_and_back(const StorageTarget& target, const Shape& original, unsigned element_bytes,
                           const Shape& stored_shape) {
  std::string bytes(static_cast<size_t>(product(original)) * element_bytes, '\0');
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 7 + i / 251 + 1);
  const test::TempFolder folder;
  auto form = stored_form(target, original, element_bytes);
  REQUIRE_MESSAGE(form.ok(), (form.ok() ? "" : form.error().message));
  CHECK(form->shape == stored_shape);
  const StoragePlan plan = form->plan;
  auto there = StorageBackStream::open(File::open(folder.write("original", bytes)).value(), *std::move(form),
                                       element_bytes);
  REQUIRE(there.ok());
  const std::string stored = read_all(**there);
  REQUIRE(stored.size() == static_cast<size_t>(product(stored_shape)) * element_bytes);
  auto back = StorageStream::open(File::open(folder.write("stored", stored)).value(), 0, stored.size(), plan,
                                  element_bytes);
  REQUIRE(back.ok());
  CHECK(read_all(**back) == bytes);
  return stored;
}

StorageQuery make(int32_t format, Shape stored, Shape original, std::vector<int32_t> layouts = {},
                  int32_t groups = 0) {
  return {format, groups, std::move(stored), std::move(original), true, std::move(layouts)};
}

}  // namespace

TEST_CASE("storage: NC1HWC0 comes back to NCHW and NHWC, whatever C0 is") {
  for (const int64_t c0 : {4, 8, 16, 32}) {
    CAPTURE(c0);
    const int64_t c = 35, c1 = (c + c0 - 1) / c0;
    check_back<uint16_t>(make(acl_format::kNc1hwc0, {2, c1, 5, 3, c0}, {2, c, 5, 3}, {acl_format::kNchw}),
                         {2, c1, 5, 3, c0}, [&](const Shape& i) {
                           return Shape{i[0], i[1] / c0, i[2], i[3], i[1] % c0};
                         });
    check_back<uint32_t>(make(acl_format::kNc1hwc0, {2, c1, 5, 3, c0}, {2, 5, 3, c}, {acl_format::kNhwc}),
                         {2, c1, 5, 3, c0}, [&](const Shape& i) {
                           return Shape{i[0], i[3] / c0, i[1], i[2], i[3] % c0};
                         });
  }
  check_back<uint64_t>(make(acl_format::kNc1hwc0C04, {1, 1, 6, 7, 4}, {1, 3, 6, 7}, {acl_format::kNchw}),
                       {1, 1, 6, 7, 4}, [](const Shape& i) {
                         return Shape{i[0], i[1] / 4, i[2], i[3], i[1] % 4};
                       });
}

TEST_CASE("storage: a tensor of many slabs comes back whole") {
  // 3 images of 40 channels and 160 x 170 float32: 13 MB in boxes of 1 MiB.
  check_back<uint32_t>(
      make(acl_format::kNc1hwc0, {3, 3, 160, 170, 16}, {3, 40, 160, 170}, {acl_format::kNchw}),
      {3, 3, 160, 170, 16}, [](const Shape& i) {
        return Shape{i[0], i[1] / 16, i[2], i[3], i[1] % 16};
      });
  check_back<uint32_t>(make(acl_format::kFractalNz, {2, 60, 50, 16, 16}, {2, 793, 950}), {2, 60, 50, 16, 16},
                       [](const Shape& i) {
                         return Shape{i[0], i[2] / 16, i[1] / 16, i[1] % 16, i[2] % 16};
                       });
}

TEST_CASE("storage: NDC1HWC0 comes back to NCDHW and NDHWC") {
  check_back<uint16_t>(
      make(acl_format::kNdc1hwc0, {2, 3, 2, 4, 5, 16}, {2, 17, 3, 4, 5}, {acl_format::kNcdhw}),
      {2, 3, 2, 4, 5, 16},
      [](const Shape& i) { return Shape{i[0], i[2], i[1] / 16, i[3], i[4], i[1] % 16}; });
  check_back<uint16_t>(
      make(acl_format::kNdc1hwc0, {2, 3, 2, 4, 5, 16}, {2, 3, 4, 5, 17}, {acl_format::kNdhwc}),
      {2, 3, 2, 4, 5, 16},
      [](const Shape& i) { return Shape{i[0], i[1], i[4] / 16, i[2], i[3], i[4] % 16}; });
}

TEST_CASE("storage: FRACTAL_NZ with none, one and two leading dimensions, and of a vector") {
  check_back<uint16_t>(make(acl_format::kFractalNz, {3, 2, 16, 16}, {17, 40}), {3, 2, 16, 16},
                       [](const Shape& i) {
                         return Shape{i[1] / 16, i[0] / 16, i[0] % 16, i[1] % 16};
                       });
  check_back<uint16_t>(
      make(acl_format::kFractalNz, {2, 5, 1, 4, 16, 16}, {2, 5, 50, 9}), {2, 5, 1, 4, 16, 16},
      [](const Shape& i) { return Shape{i[0], i[1], i[3] / 16, i[2] / 16, i[2] % 16, i[3] % 16}; });
  check_back<uint32_t>(make(acl_format::kFractalNz, {3, 1, 16, 16}, {35}), {3, 1, 16, 16},
                       [](const Shape& i) {
                         return Shape{i[0] / 16, 0, 0, i[0] % 16};
                       });
}

TEST_CASE("storage: FRACTAL_Z comes back to NCHW and HWCN, FRACTAL_Z_3D to NCDHW") {
  const Shape z = {2, 3, 3, 2, 16, 16};  // C1 H W N1 N0 C0; the first three are one dimension of the file
  check_back<uint16_t>(
      make(acl_format::kFractalZ, {18, 2, 16, 16}, {20, 19, 3, 3}, {acl_format::kNchw}), z,
      [](const Shape& i) { return Shape{i[1] / 16, i[2], i[3], i[0] / 16, i[0] % 16, i[1] % 16}; });
  check_back<uint16_t>(
      make(acl_format::kFractalZ, {18, 2, 16, 16}, {3, 3, 19, 20}, {acl_format::kHwcn}), z,
      [](const Shape& i) { return Shape{i[2] / 16, i[0], i[1], i[3] / 16, i[3] % 16, i[2] % 16}; });
  const Shape z3 = {2, 2, 3, 2, 2, 16, 16};  // D C1 H W N1 N0 C0
  check_back<uint16_t>(
      make(acl_format::kFractalZ3d, {24, 2, 16, 16}, {20, 19, 2, 3, 2}, {acl_format::kNcdhw}), z3,
      [](const Shape& i) { return Shape{i[2], i[1] / 16, i[3], i[4], i[0] / 16, i[0] % 16, i[1] % 16}; });
}

TEST_CASE("storage: grouped FRACTAL_Z") {
  // 6 groups of 4 channels and 8 filters, C0 = N0 = 16. E = lcm(lcm(4,16)/4, lcm(8,16)/8) = lcm(4, 2) = 4, so
  // cin' = 16, cout' = 32, C1 = 1, G1 = 2 and a block has 4 groups.
  const Shape stored = {2, 1, 3, 2, 32, 16};  // G1 C1 H W cout' C0
  check_back<uint16_t>(make(acl_format::kFractalZ, {12, 2, 16, 16}, {48, 4, 3, 2}, {acl_format::kNchw}, 6),
                       stored, [](const Shape& i) {
                         const int64_t g = i[0] / 8, within = g % 4, c = within * 4 + i[1],
                                       o = within * 8 + i[0] % 8;
                         return Shape{g / 4, c / 16, i[2], i[3], o, c % 16};
                       });
}

TEST_CASE("storage: C1HWNCoC0 holds channels on a diagonal") {
  check_back<uint16_t>(make(acl_format::kC1hwncoc0, {2, 3, 3, 1, 16, 16}, {1, 20, 3, 3}, {acl_format::kNchw}),
                       {2, 3, 3, 1, 16, 16}, [](const Shape& i) {
                         return Shape{i[1] / 16, i[2], i[3], i[0], i[1] % 16, i[1] % 16};
                       });
}

TEST_CASE("storage: every element size and every rest of a block come back") {
  // Channels, rows and filters one below, at and above a block; places that no square of a register divides.
  for (const unsigned element_bytes : {1U, 2U, 4U, 8U, 16U})
    for (const int64_t c : {1, 15, 16, 17, 33}) {
      CAPTURE(element_bytes);
      CAPTURE(c);
      const int64_t c1 = (c + 15) / 16;
      StorageTarget target;
      target.c0 = 16;
      target.format = acl_format::kNc1hwc0;
      there_and_back(target, {2, c, 3, 7}, element_bytes, {2, c1, 3, 7, 16});
      target.layout = acl_format::kNhwc;
      there_and_back(target, {2, 3, 7, c}, element_bytes, {2, c1, 3, 7, 16});
      target.layout = -1;
      target.format = acl_format::kFractalZ;
      there_and_back(target, {c + 1, c, 3, 3}, element_bytes, {c1 * 9, (c + 16) / 16, 16, 16});
      target.layout = acl_format::kHwcn;
      there_and_back(target, {3, 3, c, c + 1}, element_bytes, {c1 * 9, (c + 16) / 16, 16, 16});
      target.layout = -1;
      target.format = acl_format::kFractalNz;
      there_and_back(target, {2, 19, c}, element_bytes, {2, c1, 2, 16, 16});
      target.format = acl_format::kNdc1hwc0;
      there_and_back(target, {2, c, 2, 3, 5}, element_bytes, {2, 2, c1, 3, 5, 16});
      target.format = acl_format::kFractalZ3d;
      there_and_back(target, {c, c, 2, 3, 3}, element_bytes, {2 * c1 * 9, c1, 16, 16});
      target.format = acl_format::kC1hwncoc0;
      there_and_back(target, {2, c, 3, 3}, element_bytes, {c1, 3, 3, 2, 16, 16});
    }
}

TEST_CASE("storage: the way back pads with zeros") {
  StorageTarget target;
  target.format = acl_format::kNc1hwc0;
  target.c0 = 4;
  // One image of 3 channels and 2 places: channel 3 of each place is padding. Bytes 1, 8, 15, ... of
  // there_and_back.
  CHECK(there_and_back(target, {1, 3, 1, 2}, 1, {1, 1, 1, 2, 4}) ==
        std::string({1, 15, 29, 0, 8, 22, 36, 0}));
  target.format = acl_format::kFractalNz;
  target.n0 = 2;
  CHECK(there_and_back(target, {3}, 1, {1, 1, 2, 4}) == std::string({1, 8, 15, 0, 0, 0, 0, 0}));
  target.format = acl_format::kNhwc;
  CHECK(there_and_back(target, {1, 2, 1, 2}, 1, {1, 1, 2, 2}) == std::string({1, 15, 8, 22}));
}

TEST_CASE("storage: the way back of many slabs") {
  StorageTarget target;
  target.format = acl_format::kNc1hwc0;
  there_and_back(target, {2, 40, 160, 170}, 4, {2, 3, 160, 170, 16});
  target.format = acl_format::kFractalNz;
  there_and_back(target, {793, 3950}, 4, {247, 50, 16, 16});
  target.format = acl_format::kFractalNz;
  there_and_back(target, {3, 33}, 1, {2, 1, 16, 32});
}

TEST_CASE("storage: what cannot be stored in a format says what was expected") {
  const auto message = [](int32_t format, const Shape& shape, int64_t c0 = 0, int32_t layout = -1) {
    const auto form = stored_form({format, layout, c0, 16}, shape, 2);
    return form.ok() ? std::string("planned") : form.error().message;
  };
  CHECK(message(acl_format::kNc1hwc0, {3, 4}) ==
        "(3,4) cannot be stored as NC1HWC0: expected 4 dimensions, in a layout such as NCHW");
  CHECK(message(acl_format::kNdc1hwc0, {3, 4, 1, 1}) ==
        "(3,4,1,1) cannot be stored as NDC1HWC0: expected 5 dimensions, in a layout such as NCDHW");
  CHECK(message(acl_format::kFractalNz, {}) ==
        "() cannot be stored as FRACTAL_NZ: expected at least one dimension");
  CHECK(message(5, {1, 2, 3, 4}).find("NC1C0HWPAD is not written, expected NC1HWC0") == 0);
  CHECK(message(acl_format::kNc1hwc0, {1, 2, 3, 4}, -1) == "a block of -1 by 16, expected 1 to 1048576");
  CHECK(message(acl_format::kDhwcn, {1, 2, 3, 4, 5}, 0, acl_format::kDhwnc) == "planned");
  CHECK(message(acl_format::kNhwc, {1, 2, 3}, 0, acl_format::kNcl).find("cannot be stored as NHWC") !=
        std::string::npos);
}

TEST_CASE("storage: plain layouts are transposed, padded ones cut, equal ones taken as they are") {
  check_back<uint32_t>(make(acl_format::kNhwc, {2, 4, 5, 3}, {2, 3, 4, 5}, {acl_format::kNchw}), {2, 4, 5, 3},
                       [](const Shape& i) {
                         return Shape{i[0], i[2], i[3], i[1]};
                       });
  check_back<uint8_t>(make(acl_format::kNd, {4, 16}, {3, 10}), {4, 16}, [](const Shape& i) { return i; });
  const auto same = plan_storage(make(acl_format::kNd, {4, 16}, {4, 16}));
  REQUIRE(same.ok());
  CHECK(same->identity);
  const auto reshaped = plan_storage(make(acl_format::kNd, {4, 16}, {64}));
  REQUIRE(reshaped.ok());
  CHECK(reshaped->identity);
  CHECK(reshaped->shape == Shape{64});
}

TEST_CASE("storage: what does not fit is refused with the reason") {
  const auto message = [](const StorageQuery& query) {
    const auto plan = plan_storage(query);
    return plan.ok() ? std::string("planned") : plan.error().message;
  };
  CHECK(message(make(acl_format::kNc1hwc0, {1, 1, 4, 4, 16}, {1, 17, 4, 4}, {acl_format::kNchw}))
            .find("no known layout") != std::string::npos);
  CHECK(message(make(acl_format::kFractalNz, {1, 1, 16, 16}, {17, 16})).find("do not hold") !=
        std::string::npos);
  CHECK(message(make(acl_format::kFractalNz, {16, 16}, {16, 16})).find("expected 4 stored dimensions") !=
        std::string::npos);
  CHECK(message(make(acl_format::kNd, {4, 4}, {5, 5})).find("expected the same shape") != std::string::npos);
  StorageQuery unknown = make(acl_format::kFractalZ, {1, 1, 16, 16}, {});
  unknown.original_known = false;
  CHECK(message(unknown).find("not recorded") != std::string::npos);
  const auto other = plan_storage(make(77, {4, 4}, {4, 4}));
  REQUIRE(other.ok());
  CHECK(other->shape == Shape{4, 4});
}

TEST_CASE("storage: a layout that is recorded wrongly is told, the fitting one taken") {
  const auto plan =
      plan_storage(make(acl_format::kNc1hwc0, {1, 2, 5, 7, 16}, {1, 20, 5, 7}, {acl_format::kNhwc}));
  REQUIRE(plan.ok());
  CHECK(plan->note == "the original is not in the layout NHWC that is recorded; read as NCHW");
}
