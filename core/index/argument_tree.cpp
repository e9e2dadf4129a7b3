#include "index/argument_tree.hpp"

#include <rapidjson/document.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <algorithm>
#include <cctype>
#include <cstddef>

namespace ulpscope {
namespace {

using Json = rapidjson::Value;
constexpr int kMaxDepth = 64;

std::string json_text(const Json& value) {
  rapidjson::StringBuffer buffer;
  rapidjson::Writer<rapidjson::StringBuffer> writer(buffer);
  value.Accept(writer);
  return {buffer.GetString(), buffer.GetSize()};
}

std::string_view view(const Json& text) { return {text.GetString(), text.GetStringLength()}; }

// The members of an object by position: comparing the library's iterators is ambiguous in C++20.
const rapidjson::Value::Member& member_at(const Json& object, rapidjson::SizeType i) {
  return *(object.MemberBegin() + static_cast<std::ptrdiff_t>(i));
}

// The value of a member; null when there is none of that name.
const Json* find(const Json& object, std::string_view name) {
  for (rapidjson::SizeType i = 0; i < object.MemberCount(); ++i)
    if (view(member_at(object, i).name) == name) return &member_at(object, i).value;
  return nullptr;
}

class TreeReader {
 public:
  explicit TreeReader(std::vector<ArgumentItem>& items) : items_(items) {}

  // False: nested too deep.
  bool section(Role role, const Json& value) {
    role_ = role;
    path_.clear();
    return visit(value, 0);
  }

 private:
  bool visit(const Json& value, int depth) {
    if (depth > kMaxDepth) return false;
    if (value.IsNull()) {
      items_.push_back({role_, path_, -1, "None", ""});
      return true;
    }
    if (value.IsArray()) {
      for (rapidjson::SizeType i = 0; i < value.Size(); ++i)
        if (!descend(std::to_string(i), value[i], depth)) return false;
      return true;
    }
    if (!value.IsObject())
      return true;  // bare scalars occur only in descriptions (P2POp): no argument of their own
    if (const Json* tensor = find(value, "tensor"); tensor != nullptr && tensor->IsInt64()) {
      items_.push_back({role_, path_, tensor->GetInt64(), "", ""});
      return true;
    }
    if (const Json* type = find(value, "type"); type != nullptr && type->IsString()) {
      leaf(value, view(*type));
      return true;
    }
    for (rapidjson::SizeType i = 0; i < value.MemberCount(); ++i)
      if (!descend(view(member_at(value, i).name), member_at(value, i).value, depth)) return false;
    return true;
  }

  bool descend(std::string_view part, const Json& value, int depth) {
    const size_t length = path_.size();
    if (length != 0) path_ += '.';
    path_ += part;
    const bool ok = visit(value, depth + 1);
    path_.resize(length);
    return ok;
  }

  void leaf(const Json& value, std::string_view type) {
    ArgumentItem item{role_, path_, -1, std::string(type), ""};
    for (const char* member : {"value", "group_ranks", "format"}) {
      const Json* found = find(value, member);
      if (found == nullptr) continue;
      item.value = blank_addresses(json_text(*found));
      break;
    }
    items_.push_back(std::move(item));
  }

  std::vector<ArgumentItem>& items_;
  Role role_ = Role::input;
  std::string path_;
};

}  // namespace

Result<ArgumentTree> read_argument_tree(std::string_view text) {
  ArgumentTree tree;
  rapidjson::Document document;
  document.Parse<rapidjson::kParseFullPrecisionFlag | rapidjson::kParseIterativeFlag>(text.data(),
                                                                                      text.size());
  if (document.HasParseError())
    return Error{Code::format, "attributes: not JSON at byte " + std::to_string(document.GetErrorOffset())};
  if (!document.IsObject()) return tree;
  constexpr std::pair<std::string_view, Role> kSections[] = {{"input", Role::input},
                                                             {"kwarg", Role::kwarg},
                                                             {"parameter", Role::parameter},
                                                             {"output", Role::output},
                                                             {"gradient", Role::gradient}};
  for (rapidjson::SizeType i = 0; i < document.MemberCount(); ++i)
    if (std::none_of(std::begin(kSections), std::end(kSections),
                     [&](const auto& s) { return s.first == view(member_at(document, i).name); }))
      return tree;
  tree.is_tree = true;
  TreeReader reader(tree.items);
  for (const auto& [word, role] : kSections) {
    const Json* found = find(document, word);
    if (found != nullptr && !reader.section(role, *found))
      return Error{Code::format, "attributes: nested deeper than 64"};
  }
  return tree;
}

std::string blank_addresses(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    if (text.substr(i, 2) != "0x" || (i > 0 && std::isalnum(static_cast<unsigned char>(text[i - 1])))) {
      out += text[i++];
      continue;
    }
    size_t end = i + 2;
    while (end < text.size() && std::isxdigit(static_cast<unsigned char>(text[end]))) ++end;
    out += end > i + 2 ? "0x*" : "0x";
    i = end;
  }
  return out;
}

}  // namespace ulpscope
