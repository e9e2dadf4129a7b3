// What a scan emitted, kept as text, so that two scans can be compared and each record can be looked at; and
// the host that the checks give to a plugin.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "base/cancel.hpp"
#include "base/result.hpp"
#include "base/thread_pool.hpp"
#include "plugin/handles.hpp"
#include "plugin/host_services.hpp"

namespace ulpscope {

// Services for one check: made inside its process, since it holds threads.
struct CheckHost {
  CheckHost();
  ThreadPool pool;
  Cancel cancel;
  HostServices services;
  const ulpscope_host* table() const { return services.table(); }
};

// A tensor record as far as the checks look at it.
struct RecordedTensor {
  std::string name;  // "Torch.add.0.forward, role 1, path 0"
  DType dtype = DType::none;
  std::vector<int64_t> dims;
  ulpscope_data_ref data = {};  // its file is in file
  std::string file;
  uint32_t op = 0;
};

// Which rule of the records a mistake breaks: those of record_rules.hpp, and those that need more than one
// record.
enum class MistakeKind : int { order, numbers, texts, shape, attributes, twice, same_call };

struct RecordedMistake {
  MistakeKind kind = MistakeKind::order;
  std::string text;
};

class Recorder {
 public:
  // From the fail_at-th record on (from 1; 0: never) the sink answers kRefusal.
  explicit Recorder(uint64_t fail_at = 0);
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  static constexpr ulpscope_status kRefusal = ULPSCOPE_E_UNSUPPORTED;

  const ulpscope_record_sink& sink() const { return sink_; }
  // One line a record, with everything that it holds.
  const std::vector<std::string>& lines() const { return lines_; }
  const std::vector<RecordedTensor>& tensors() const { return tensors_; }
  // What broke the rules of records. After the scan.
  std::vector<RecordedMistake> mistakes() const;
  // What the source said of the dump while it scanned, one line each.
  const std::vector<std::string>& diagnoses() const { return diagnoses_; }
  uint64_t records() const { return records_; }
  uint64_t calls_after_refusal() const { return calls_after_refusal_; }
  // How many ops came.
  uint32_t ops() const { return ops_; }

 private:
  static ulpscope_status op_entry(void* ctx, const ulpscope_op_record* op, uint32_t* index,
                                  ulpscope_error* err);
  static ulpscope_status tensor_entry(void* ctx, const ulpscope_tensor_record* tensor, uint32_t* index,
                                      ulpscope_error* err);
  static void diagnose_entry(void* ctx, ulpscope_status code, ulpscope_str where, ulpscope_str text);
  bool refuse(ulpscope_error* err);
  void add(const ulpscope_op_record& op);
  void add(const ulpscope_tensor_record& tensor);

  ulpscope_record_sink sink_ = {};
  uint64_t fail_at_, records_ = 0, calls_after_refusal_ = 0;
  uint32_t ops_ = 0;
  std::vector<std::string> lines_, diagnoses_, op_names_;
  std::vector<RecordedMistake> mistakes_;
  std::vector<uint32_t> parents_;
  std::set<std::string> calls_, places_;  // of all ops; of the tensors of the last op
  std::vector<RecordedTensor> tensors_;
};

// Opens path with desc and scans it into recorder.
Status scan_once(const ulpscope_source_desc& desc, const ulpscope_host* host, const std::string& path,
                 Recorder& recorder);

// The bytes of a recorded tensor, at most limit_bytes of them, read in pieces of piece_bytes. Files are
// opened below root.
Result<std::string> bytes_of(const SourceHandle& source, const std::string& root,
                             const RecordedTensor& tensor, size_t piece_bytes, uint64_t limit_bytes);

}  // namespace ulpscope
