// Reads dumps that the ATB probe of msprobe, or the older msit tool, writes while MindIE serves a model:
// folders of operations with .bin tensors, statistic.csv, parameters and the graphs of the models. The source
// mindie_atb is a thin face of this class. Records come in execution order, each operation behind its
// children, so that the parent of a record comes after it: parents are counted as the host counts ops, from 0
// in order of arrival.
#pragma once

#include <ulpscope/plugin.hpp>

#include <memory>
#include <string>

#include "base/result.hpp"
#include "formats/atb_layout.hpp"

namespace ulpscope {

class AtbDump {
 public:
  // Finds the rounds to read; opens no tensor. Errors are those of find_atb_rounds.
  static Result<std::unique_ptr<AtbDump>> open(Host host, const std::string& path, const AtbChoice& choice);

  // Emits every record once. What cannot be read is diagnosed and recorded as absent. Throws Failure when the
  // sink refuses a record or the user cancels. One thread.
  void scan(RecordSink& sink);

 private:
  AtbDump(Host host, AtbLayout layout) : host_(host), layout_(std::move(layout)) {}

  Host host_;
  AtbLayout layout_;
};

}  // namespace ulpscope
