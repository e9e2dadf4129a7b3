#include "formats/framework_dump_kept.hpp"

namespace ulpscope {

KeptEntries::KeptEntries() { texts_.add(""); }

void KeptEntries::add(const EntryReader& entry) {
  Entry kept;
  kept.first_tensor = static_cast<uint32_t>(tensors_.size());
  kept.tensor_count = static_cast<uint32_t>(entry.tensor_count());
  kept.attributes = keep(entry.attributes());
  for (size_t i = 0; i < entry.tensor_count(); ++i) {
    const EntryTensor& read = entry.tensor(i);
    Tensor& tensor = tensors_.emplace_back();
    tensor.stats = read.stats;
    tensor.path = keep(read.path);
    tensor.data_name = keep(read.data_name);
    tensor.digest = keep(read.digest);
    tensor.fault = keep(read.fault);
    tensor.flags = read.flags;
    tensor.first_dim = static_cast<uint32_t>(dims_.size());
    tensor.rank = static_cast<uint8_t>(read.shape.size());  // at most kMaxRank
    tensor.role = read.role;
    tensor.dtype = read.dtype;
    tensor.is_foreign = read.foreign;
    dims_.insert(dims_.end(), read.shape.begin(), read.shape.end());
  }
  entries_.push_back(kept);
}

void KeptEntries::add_fault(std::string_view fault) {
  entries_.push_back({static_cast<uint32_t>(tensors_.size()), 0, 0, keep(fault)});
}

void KeptEntries::recall(size_t index, EntryReader& entry) const {
  const Entry& kept = entries_[index];
  entry.clear();
  entry.set_attributes(texts_.text(kept.attributes));
  for (uint32_t i = 0; i < kept.tensor_count; ++i) {
    const Tensor& tensor = tensors_[kept.first_tensor + i];
    EntryTensor& read = entry.add_tensor();
    read.role = tensor.role;
    read.path = texts_.text(tensor.path);
    read.data_name = texts_.text(tensor.data_name);
    read.digest = texts_.text(tensor.digest);
    read.fault = texts_.text(tensor.fault);
    read.dtype_text.clear();  // what a later entry's dtype is compared with
    read.dtype = tensor.dtype;
    read.has_bad_data_name = false;
    const auto* first = dims_.data() + tensor.first_dim;
    read.shape.assign(first, first + tensor.rank);
    read.stats = tensor.stats;
    read.flags = tensor.flags;
    read.foreign = tensor.is_foreign;
  }
}

}  // namespace ulpscope
