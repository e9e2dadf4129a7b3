#include "plugin/handles.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <thread>

#include "host_fixture.hpp"
#include "plugin/outputs.hpp"

using namespace ulpscope;

namespace {

// Takes any record and counts.
struct CountingSink {
  int ops = 0, tensors = 0;
  ulpscope_status answer = ULPSCOPE_OK;
  ulpscope_record_sink table = {};

  CountingSink() {
    table.struct_size = sizeof(table);
    table.ctx = this;
    table.add_op = [](void* ctx, const ulpscope_op_record*, uint32_t* index,
                      ulpscope_error* err) -> ulpscope_status {
      auto* self = static_cast<CountingSink*>(ctx);
      *index = static_cast<uint32_t>(self->ops++);
      if (self->answer != ULPSCOPE_OK) std::strcpy(err->message, "the sink is full");
      return self->answer;
    };
    table.add_tensor = [](void* ctx, const ulpscope_tensor_record*, uint32_t* index,
                          ulpscope_error*) -> ulpscope_status {
      *index = static_cast<uint32_t>(static_cast<CountingSink*>(ctx)->tensors++);
      return ULPSCOPE_OK;
    };
    table.diagnose = [](void*, ulpscope_status, ulpscope_str, ulpscope_str) {};
  }
};

struct Fixture : test::HostFixture {
  ulpscope_source_desc desc = *ulpscope::source<test::DemoSource>();
  SourceHandle open() { return SourceHandle::open(desc, host.table(), "/dump", "{}").value(); }
};

// A judgement whose every answer can be set.
struct Answers {
  ulpscope_status status = ULPSCOPE_OK;
  std::string message;
  int32_t overall = ULPSCOPE_PASS, per_metric = ULPSCOPE_PASS;
  uint32_t worst_count = 0;
  bool gives_measure = true, throws = false;
  int open_measures = 0;
};
Answers answers;

constexpr ulpscope_metric_desc kMetric[] = {{"error", -1, 0, "an error"}};

ulpscope_judgement_desc scripted_judgement() {
  ulpscope_judgement_desc desc = {};
  desc.struct_size = sizeof(desc);
  desc.name = "scripted";
  desc.summary = "made for tests";
  desc.metric_count = 1;
  desc.metrics = kMetric;
  desc.create = [](const ulpscope_host*, ulpscope_str, void** self, ulpscope_error* err) -> ulpscope_status {
    *self = &answers;
    // Without a terminating NUL when the text is too long, on purpose.
    std::copy_n(answers.message.c_str(), std::min(answers.message.size() + 1, sizeof(err->message)),
                err->message);
    if (answers.throws) throw std::runtime_error("oh");
    return answers.status;
  };
  desc.destroy = [](void*) {};
  desc.applies = [](void*, const ulpscope_pair*, ulpscope_error* reason) -> int32_t {
    if (answers.throws) throw 5;
    std::strcpy(reason->message, "not today");
    return answers.status == ULPSCOPE_OK ? 1 : 0;
  };
  desc.begin = [](void*, const ulpscope_pair*, void** measure, ulpscope_error*) -> ulpscope_status {
    if (!answers.gives_measure) return ULPSCOPE_OK;
    ++answers.open_measures;
    *measure = &answers;
    return ULPSCOPE_OK;
  };
  desc.consume = [](void*, const ulpscope_view*, const ulpscope_view*, ulpscope_error*) -> ulpscope_status {
    return answers.status;
  };
  desc.merge = [](void*, const void*, ulpscope_error*) -> ulpscope_status { return answers.status; };
  desc.finish = [](void*, ulpscope_measurement* out, ulpscope_error*) -> ulpscope_status {
    set(*out, 0, 2.5);
    set(*out, 1, 9.0);  // one more than there is room for
    out->worst[0] = {3, 1, 2, 1};
    out->worst_count = answers.worst_count;
    return ULPSCOPE_OK;
  };
  desc.end = [](void*) { --answers.open_measures; };
  desc.judge = [](void*, const ulpscope_pair*, const ulpscope_metric* metrics,
                  const ulpscope_metric* reference, ulpscope_verdict* out,
                  ulpscope_error*) -> ulpscope_status {
    out->overall = answers.overall;
    out->per_metric[0] = answers.per_metric;
    set_text(out->message,
             std::to_string(metrics[0].value) + (reference == nullptr ? " alone" : " with reference"));
    return answers.status;
  };
  return desc;
}

JudgementHandle judgement(HostServices& host) {
  answers = {};
  return JudgementHandle::create(scripted_judgement(), host.table(), "{}").value();
}

}  // namespace

TEST_CASE("scan emits into the sink, once") {
  Fixture fixture;
  SourceHandle source = fixture.open();
  CountingSink sink;
  CHECK(source.scan(sink.table).ok());
  CHECK(sink.ops == 1);
  CHECK(sink.tensors == 1);
  CHECK(fixture.lines == std::vector<std::string>{"1 scanned"});
  CHECK(source.scan(sink.table).error().message == "source 'demo': scan was called a second time");
}

TEST_CASE("a sink that fails ends the scan with its status and text") {
  Fixture fixture;
  SourceHandle source = fixture.open();
  CountingSink sink;
  sink.answer = ULPSCOPE_E_CANCELLED;
  const Status status = source.scan(sink.table);
  REQUIRE_FALSE(status.ok());
  CHECK(status.error().code == Code::cancelled);
  CHECK(status.error().message == "the sink is full");
  CHECK(sink.tensors == 0);
}

TEST_CASE("locate gives texts that stay valid, from any thread") {
  Fixture fixture;
  const SourceHandle source = fixture.open();
  std::vector<ulpscope_data_ref> refs(8);
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      for (int round = 0; round < 100; ++round) refs[t] = source.locate(100 + t).value();
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(to_view(refs[0].file) == "file100");
  CHECK(to_view(refs[7].file) == "file107");
  CHECK(refs[7].token == 0x10000ABCDULL);
}

TEST_CASE("a stream is read to its end in pieces") {
  Fixture fixture;
  const SourceHandle source = fixture.open();
  CHECK(source.locate(8).value().kind == ULPSCOPE_DATA_STREAM);
  StreamHandle stream = source.open_stream(8).value();
  std::array<std::byte, 3> piece;
  CHECK(stream.read(piece).value() == 3);
  CHECK(static_cast<char>(piece[0]) == 'h');
  CHECK(stream.read(piece).value() == 2);
  CHECK(static_cast<char>(piece[1]) == 'o');
  CHECK(stream.read(piece).value() == 0);
}

TEST_CASE("answers against the contract become internal errors that name the component") {
  Fixture fixture;
  SUBCASE("a location that is late again") {
    fixture.desc.locate = [](void*, uint64_t, ulpscope_data_ref* out, ulpscope_error*) -> ulpscope_status {
      out->kind = ULPSCOPE_DATA_LATER;
      return ULPSCOPE_OK;
    };
    const auto ref = fixture.open().locate(1);
    CHECK(ref.error().code == Code::internal);
    CHECK(ref.error().message ==
          "source 'demo': locate answered data of kind 2, expected a file, a stream or none");
  }
  SUBCASE("no stream") {
    fixture.desc.stream_open = [](void*, uint64_t, void**, ulpscope_error*) -> ulpscope_status {
      return ULPSCOPE_OK;
    };
    CHECK(fixture.open().open_stream(1).error().message == "source 'demo': stream_open gave no stream");
  }
  SUBCASE("more bytes than asked for") {
    fixture.desc.stream_read = [](void*, void*, uint64_t size, uint64_t* got,
                                  ulpscope_error*) -> ulpscope_status {
      *got = size + 1;
      return ULPSCOPE_OK;
    };
    const SourceHandle source = fixture.open();
    StreamHandle stream = source.open_stream(1).value();
    std::array<std::byte, 4> piece;
    CHECK(stream.read(piece).error().message ==
          "source 'demo': stream_read gave 5 bytes, expected at most 4");
  }
  SUBCASE("an unknown status") {
    fixture.desc.scan = [](void*, const ulpscope_record_sink*, ulpscope_error*) -> ulpscope_status {
      return 77;
    };
    CHECK(fixture.open().scan({}).error().message == "source 'demo': scan answered unknown status 77");
  }
  SUBCASE("a failure without a reason") {
    fixture.desc.scan = [](void*, const ulpscope_record_sink*, ulpscope_error*) -> ulpscope_status {
      return 2;
    };
    const Status status = fixture.open().scan({});
    CHECK(status.error().code == Code::io);
    CHECK(status.error().message == "source 'demo': scan failed without a reason");
  }
  SUBCASE("an exception") {
    fixture.desc.scan = [](void*, const ulpscope_record_sink*, ulpscope_error*) -> ulpscope_status {
      throw std::runtime_error("oh");
    };
    CHECK(fixture.open().scan({}).error().message == "source 'demo': scan threw: oh");
  }
  SUBCASE("an exception of another type") {
    fixture.desc.scan = [](void*, const ulpscope_record_sink*, ulpscope_error*) -> ulpscope_status {
      throw 5;
    };
    CHECK(fixture.open().scan({}).error().message ==
          "source 'demo': scan threw an exception of unknown type");
  }
}

TEST_CASE("a probe that misbehaves scores 0 and says why") {
  Fixture fixture;
  CHECK(probe(fixture.desc, fixture.host.table(), "a.demo").score == 90);
  fixture.desc.probe = [](const ulpscope_host*, ulpscope_str, ulpscope_probe* out,
                          ulpscope_error*) -> ulpscope_status {
    out->score = 101;
    return ULPSCOPE_OK;
  };
  CHECK(probe(fixture.desc, fixture.host.table(), "a").score == 0);
  CHECK(probe(fixture.desc, fixture.host.table(), "a").why ==
        "source 'demo': probe scored 101, expected 0 to 100");
  fixture.desc.probe = [](const ulpscope_host*, ulpscope_str, ulpscope_probe*,
                          ulpscope_error*) -> ulpscope_status { throw std::runtime_error("oh"); };
  CHECK(probe(fixture.desc, fixture.host.table(), "a").why == "source 'demo': probe threw: oh");
}

TEST_CASE("a judgement measures and judges") {
  Fixture fixture;
  const JudgementHandle handle = judgement(fixture.host);
  answers.worst_count = 1;
  std::string why_not;
  CHECK(handle.applies({}, why_not));
  {
    MeasureHandle measure = handle.begin({}).value();
    const MeasureHandle next = handle.begin({}).value();
    CHECK(answers.open_measures == 2);
    CHECK(measure.consume({}, {}).ok());
    CHECK(measure.merge(next).ok());
    const Measurement found = measure.finish().value();
    REQUIRE(found.metrics.size() == 1);
    CHECK(found.metrics[0].value == 2.5);
    CHECK(found.metrics[0].available == 1);
    REQUIRE(found.worst.size() == 1);
    CHECK(found.worst[0].index == 3);
    const auto alone = handle.judge({}, found.metrics, {});
    CHECK(alone->overall == ULPSCOPE_PASS);
    CHECK(alone->per_metric == std::vector<int32_t>{ULPSCOPE_PASS});
    CHECK(alone->message == "2.500000 alone");
    CHECK(handle.judge({}, found.metrics, found.metrics)->message == "2.500000 with reference");
  }
  CHECK(answers.open_measures == 0);
}

TEST_CASE("a judgement that misbehaves is named") {
  Fixture fixture;
  const JudgementHandle handle = judgement(fixture.host);
  const std::array<ulpscope_metric, 1> metrics = {};
  std::string why_not;
  SUBCASE("it does not apply") {
    answers.status = ULPSCOPE_E_UNSUPPORTED;
    CHECK_FALSE(handle.applies({}, why_not));
    CHECK(why_not == "not today");
  }
  SUBCASE("applies throws") {
    answers.throws = true;
    CHECK_FALSE(handle.applies({}, why_not));
    CHECK(why_not == "judgement 'scripted': applies threw an exception of unknown type");
  }
  SUBCASE("begin gives nothing") {
    answers.gives_measure = false;
    CHECK(handle.begin({}).error().message == "judgement 'scripted': begin gave no measure");
  }
  SUBCASE("too many worst elements") {
    answers.worst_count = 5;
    CHECK(handle.begin({}).value().finish().error().message ==
          "judgement 'scripted': finish gave 5 worst elements, expected at most 4");
  }
  SUBCASE("a verdict that there is not") {
    answers.overall = 4;
    CHECK(handle.judge({}, metrics, {}).error().message ==
          "judgement 'scripted': judge gave verdict 4, expected 0 to 3");
    answers.overall = 1;
    answers.per_metric = -1;
    CHECK(handle.judge({}, metrics, {}).error().message ==
          "judgement 'scripted': judge gave verdict -1, expected 0 to 3");
  }
  SUBCASE("a wrong number of metrics") {
    CHECK(handle.judge({}, {}, {}).error().message ==
          "judgement 'scripted': judge was given 0 and 0 metrics, expected 1");
  }
  SUBCASE("a message without an end") {
    answers.status = ULPSCOPE_E_USAGE;
    answers.message = std::string(5000, 'x');
    const auto failed = JudgementHandle::create(scripted_judgement(), fixture.host.table(), "{}");
    CHECK(failed.error().code == Code::usage);
    CHECK(failed.error().message == std::string(1020, 'x'));
  }
}

TEST_CASE("an output collector checks what it is asked for") {
  OutputCollector outputs(100);
  const auto add = [&](int32_t dtype, std::vector<int64_t> dims) -> std::string {
    void* dst = nullptr;
    ulpscope_error err = {};
    const ulpscope_status status = outputs.sink().add_output(
        outputs.sink().ctx, to_str("0"), dtype, dims.data(), static_cast<uint32_t>(dims.size()), &dst, &err);
    if (status == ULPSCOPE_OK && dst != nullptr) std::memset(dst, 7, 4);
    return status == ULPSCOPE_OK ? "" : err.message;
  };
  CHECK(add(ULPSCOPE_F32, {2, 3}) == "");
  CHECK(add(ULPSCOPE_F32, {}) == "");
  CHECK(add(0, {1}) == "output '0': dtype 0 is unknown");
  CHECK(add(99, {1}) == "output '0': dtype 99 is unknown");
  CHECK(add(ULPSCOPE_F32, {-1}) == "output '0': dimension -1, expected 0 or more");
  CHECK(add(ULPSCOPE_F32, std::vector<int64_t>(33, 1)) == "output '0': 33 dimensions, expected at most 32");
  CHECK(add(ULPSCOPE_F64, {std::numeric_limits<int64_t>::max(), 2}) ==
        "output '0': its size does not fit 64 bits");
  CHECK(add(ULPSCOPE_F32, {100}) == "output '0': 400 bytes, expected at most 72 more");
  CHECK(add(ULPSCOPE_F32, {0}) == "");
  const auto taken = outputs.take();
  REQUIRE(taken.size() == 3);
  CHECK(taken[0].shape == Shape{2, 3});
  CHECK(taken[0].data.size() == 24);
  CHECK(taken[1].shape == Shape{});
  CHECK(static_cast<int>(taken[1].data.at(3)) == 7);
  CHECK(outputs.take().empty());
}
