#include "plugin/table_checks.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <string>

#include "host_fixture.hpp"

using namespace ulpscope;

namespace {

class DemoMeasure final : public Measure {
 public:
  void consume(const ulpscope_view&, const ulpscope_view&) override {}
  void merge(const Measure&) override {}
  void finish(ulpscope_measurement&) const override {}
};

class DemoJudgement final : public Judgement {
 public:
  static constexpr const char* kName = "judge";
  static constexpr const char* kSummary = "made for tests";
  static constexpr ulpscope_metric_desc kMetrics[] = {{"error", -1, 0, "an error"}};
  static constexpr uint32_t kNeedsReference = 0;
  DemoJudgement(Host, std::string_view) {}
  bool applies(const ulpscope_pair&, std::string&) const override { return true; }
  std::unique_ptr<Measure> begin(const ulpscope_pair&) const override {
    return std::make_unique<DemoMeasure>();
  }
  void judge(const ulpscope_pair&, const ulpscope_metric*, const ulpscope_metric*,
             ulpscope_verdict&) const override {}
};

class DemoExecutor final : public Executor {
 public:
  static constexpr const char* kName = "exec";
  static constexpr const char* kSummary = "made for tests";
  DemoExecutor(Host, std::string_view) {}
  bool supports(const ulpscope_op_record&) const override { return false; }
  void run(const ulpscope_op_record&, const ulpscope_tensor*, uint32_t, OutputSink&) const override {}
};

// A sound plugin of one component of each kind, to be broken by a test.
struct Tables {
  ulpscope_source_desc source = *ulpscope::source<test::DemoSource>();
  ulpscope_judgement_desc judgement = *ulpscope::judgement<DemoJudgement>();
  ulpscope_executor_desc executor = *ulpscope::executor<DemoExecutor>();
  ulpscope_component components[3] = {
      {ULPSCOPE_SOURCE, 0, &source}, {ULPSCOPE_JUDGEMENT, 0, &judgement}, {ULPSCOPE_EXECUTOR, 0, &executor}};
  ulpscope_plugin plugin = {
      1,          0,      sizeof(ulpscope_plugin), 0, "tables", "1.0", nullptr, nullptr, nullptr, 3, 0,
      components, nullptr};

  // What check_tables says; empty when it is content.
  std::string check() const {
    const auto tables = check_tables(plugin);
    return tables.ok() ? "" : tables.error().message;
  }
};

}  // namespace

TEST_CASE("sound tables pass, and unset texts are empty") {
  Tables tables;
  const auto checked = check_tables(tables.plugin);
  REQUIRE(checked.ok());
  CHECK(checked->sources.size() == 1);
  CHECK(checked->judgements.size() == 1);
  CHECK(checked->executors.size() == 1);
  CHECK(checked->vendor == "");
  CHECK(checked->notes.empty());
}

TEST_CASE("a plugin's own members are checked") {
  Tables tables;
  SUBCASE("size") {
    tables.plugin.struct_size = 40;
    CHECK(tables.check() == "plugin: struct_size is 40, expected at least 72");
  }
  SUBCASE("name") {
    tables.plugin.name = nullptr;
    CHECK(tables.check() == "plugin: name is missing");
  }
  SUBCASE("form of the name") {
    tables.plugin.name = "Tables";
    CHECK(tables.check() == "plugin: name 'Tables', expected lower-case letters, digits and '_'");
  }
  SUBCASE("version") {
    tables.plugin.version = nullptr;
    CHECK(tables.check() == "plugin: version is missing");
  }
  SUBCASE("components") {
    tables.plugin.components = nullptr;
    CHECK(tables.check() == "plugin: components is missing");
  }
  SUBCASE("number of components") {
    tables.plugin.component_count = 0xffffffff;
    CHECK(tables.check() == "plugin: component_count is 4294967295, expected at most 256");
  }
  SUBCASE("kind of a component") {
    tables.components[1].kind = 9;
    CHECK(tables.check() == "component 1: kind 9, expected 1, 2 or 3");
  }
  SUBCASE("table of a component") {
    tables.components[1].desc = nullptr;
    CHECK(tables.check() == "component 1: desc is missing");
  }
}

TEST_CASE("a component's name, summary and options are checked") {
  Tables tables;
  SUBCASE("name") {
    tables.executor.name = nullptr;
    CHECK(tables.check() == "component 2 (executor): name is missing");
  }
  SUBCASE("summary") {
    tables.source.summary = nullptr;
    CHECK(tables.check() == "source 'demo': summary is missing");
  }
  SUBCASE("options") {
    tables.source.options = nullptr;
    CHECK(tables.check() == "source 'demo': options is missing");
  }
  SUBCASE("number of options") {
    tables.source.option_count = 5000;
    CHECK(tables.check() == "source 'demo': option_count is 5000, expected at most 1024");
  }
  SUBCASE("name of an option") {
    const ulpscope_option_desc unnamed = {};
    tables.source.options = &unnamed;
    tables.source.option_count = 1;
    CHECK(tables.check() == "source 'demo': option 0 has no name");
  }
}

TEST_CASE("every required function is asked for by name") {
  Tables tables;
  SUBCASE("probe") {
    tables.source.probe = nullptr;
    CHECK(tables.check() == "source 'demo': probe is missing");
  }
  SUBCASE("close") {
    tables.source.close = nullptr;
    CHECK(tables.check() == "source 'demo': close is missing");
  }
  SUBCASE("a stream that cannot be read") {
    tables.source.stream_read = nullptr;
    CHECK(tables.check() == "source 'demo': stream_read is missing");
  }
  SUBCASE("a stream that cannot be closed") {
    tables.source.stream_close = nullptr;
    CHECK(tables.check() == "source 'demo': stream_close is missing");
  }
  SUBCASE("merge") {
    tables.judgement.merge = nullptr;
    CHECK(tables.check() == "judgement 'judge': merge is missing");
  }
  SUBCASE("judge") {
    tables.judgement.judge = nullptr;
    CHECK(tables.check() == "judgement 'judge': judge is missing");
  }
  SUBCASE("run") {
    tables.executor.run = nullptr;
    CHECK(tables.check() == "executor 'exec': run is missing");
  }
}

TEST_CASE("optional functions may be missing") {
  Tables tables;
  tables.source.locate = nullptr;
  tables.source.stream_open = nullptr;
  tables.source.stream_read = nullptr;
  tables.source.stream_close = nullptr;
  CHECK(tables.check() == "");
}

TEST_CASE("a judgement's metrics are checked") {
  Tables tables;
  SUBCASE("their number") {
    tables.judgement.metric_count = 1000;
    CHECK(tables.check() == "judgement 'judge': metric_count is 1000, expected at most 256");
  }
  SUBCASE("their table") {
    tables.judgement.metrics = nullptr;
    CHECK(tables.check() == "judgement 'judge': metrics is missing");
  }
  SUBCASE("their names") {
    const ulpscope_metric_desc unnamed = {"", 0, 0, ""};
    tables.judgement.metrics = &unnamed;
    CHECK(tables.check() == "judgement 'judge': metric 0 has no name");
  }
  SUBCASE("the need of a reference") {
    tables.judgement.needs_reference = 3;
    CHECK(tables.check() == "judgement 'judge': needs_reference is 3, expected 0, 1 or 2");
  }
}

TEST_CASE("members behind a table's own end are not read") {
  Tables tables;
  tables.source.struct_size = 64;  // ends after scan (abi_layout.c)
  const auto checked = check_tables(tables.plugin);
  REQUIRE(checked.ok());
  CHECK_FALSE((checked->sources[0].locate != nullptr));
  CHECK_FALSE((checked->sources[0].stream_open != nullptr));
  CHECK((checked->sources[0].scan != nullptr));
}
