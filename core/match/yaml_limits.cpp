#include "match/yaml_limits.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <sstream>

namespace ulpscope {
namespace {

// Ends the parse; never leaves this file.
struct Refused {
  YAML::Mark mark;
  std::string why;
};

class Counter final : public YAML::EventHandler {
 public:
  explicit Counter(const YamlLimits& limits) : limits_(limits) {}

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override { count(mark); }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    throw Refused{mark, "an alias, expected plain text; a name that begins with * needs quotes"};
  }
  void OnScalar(const YAML::Mark& mark, const std::string&, YAML::anchor_t, const std::string&) override {
    count(mark);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {
    enter(mark);
  }
  void OnSequenceEnd() override { --depth_; }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {
    enter(mark);
  }
  void OnMapEnd() override { --depth_; }

 private:
  void count(const YAML::Mark& mark) {
    if (++nodes_ > limits_.nodes)
      throw Refused{mark, "expected at most " + std::to_string(limits_.nodes) + " names and values"};
  }
  void enter(const YAML::Mark& mark) {
    count(mark);
    if (++depth_ > limits_.depth)
      throw Refused{mark, "expected at most " + std::to_string(limits_.depth) + " lists inside each other"};
  }

  YamlLimits limits_;
  int64_t nodes_ = 0, depth_ = 0;
};

}  // namespace

Status check_yaml(const std::string& path, const std::string& text, const YamlLimits& limits) {
  std::istringstream stream(text);
  Counter counter(limits);
  try {
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(counter)) {
    }
  } catch (const Refused& refused) {
    return Error{Code::usage, path + ":" + std::to_string(refused.mark.line + 1) + ":" +
                                  std::to_string(refused.mark.column + 1) + ": " + refused.why};
  } catch (const YAML::Exception&) {
    return {};
  }
  return {};
}

}  // namespace ulpscope
