// Readers of the small text files of a bundle: environment, installed packages, versions. Tolerant of every
// form that the usual commands print; never run anything. Used by the bundle.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace ulpscope {

using NamedTexts = std::map<std::string, std::string, std::less<>>;

// The output of env, env -0, export -p or declare -x, or a JSON object. Shell functions are left out.
NamedTexts parse_environment(std::string_view text);

// Packages with their versions, names by PEP 503: pip list (table or JSON), pip freeze, name=version lines. A
// package from git has the version "git:COMMIT", one without a version an empty text.
NamedTexts parse_packages(std::string_view text);

// "Torch_NPU" as "torch-npu".
std::string package_name(std::string_view name);

// version.info files of Ascend: mindie, atb, atb-models, cann, driver by their keys.
NamedTexts parse_versions(std::string_view text);

}  // namespace ulpscope
