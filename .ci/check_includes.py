#!/usr/bin/env python3
"""Refuses a name that a file has only from another file of its unity batch, behind which it is compiled.

A name's header must be reached by the includes of the file and of our headers: the names of HEADERS below, and every one of our own
that exactly one of our headers declares at namespace level (types, functions, constants, macros). A type or a constant of another
namespace is written with it, or there is a `using`. What this cannot see: overloads that several headers declare, names of generated
headers, members. A build with -DCMAKE_UNITY_BUILD=OFF sees them all.
"""

import collections
import functools
import re
import sys

import check_floors
import tree

_CONTAINERS = "vector string map set deque array span memory functional"
# What to include; what else declares the names, in the library that we build with; the names: "f(" is called, "f*" begins so.
HEADERS = [
    ("algorithm", "", "std::ranges::sort std::ranges::find* std::ranges::count* std::ranges::any_of std::ranges::all_of "
     "std::ranges::none_of std::ranges::copy* std::ranges::fill std::ranges::max* std::ranges::min* std::ranges::equal "
     "std::ranges::reverse std::ranges::unique std::ranges::transform std::ranges::remove* std::ranges::replace* "
     "std::ranges::for_each std::ranges::mismatch std::ranges::contains std::ranges::lower_bound "
     "std::ranges::upper_bound std::ranges::is_sorted* std::ranges::stable_sort std::sort( std::stable_sort( std::min( "
     "std::max( std::clamp( std::find( std::find_if( std::count( std::count_if( std::copy( std::copy_n( std::fill( "
     "std::fill_n( std::all_of( std::any_of( std::none_of( std::reverse( std::equal( std::for_each( std::transform( "
     "std::mismatch( std::lower_bound( std::upper_bound( std::rotate("),
    ("array", "", "std::array std::to_array"),
    ("atomic", "", "std::atomic*"),
    ("bit", "", "std::bit_cast std::popcount std::countl_zero std::countr_zero std::bit_width std::endian std::has_single_bit"),
    ("charconv", "", "std::from_chars std::to_chars"),
    ("chrono", "", "std::chrono"),
    ("cmath", "cstdlib", "std::abs("),
    ("cmath", "", "std::isnan std::isfinite std::isinf std::sqrt std::exp( std::log( std::pow std::floor std::ceil std::round "
     "std::lround std::llround std::fabs std::signbit std::nextafter"),
    ("compare", _CONTAINERS, "std::strong_ordering std::weak_ordering std::partial_ordering"),
    ("concepts", "", "std::same_as std::convertible_to std::derived_from std::integral std::floating_point std::invocable"),
    ("cstddef", _CONTAINERS + " string_view optional algorithm utility cstring cstdio cstdlib", "std::size_t std::ptrdiff_t"),
    ("cstddef", "", "std::byte std::max_align_t"),
    ("cstdint", "", "std::int8_t std::int16_t std::int32_t std::int64_t std::uint8_t std::uint16_t std::uint32_t std::uint64_t "
     "std::uintptr_t std::intptr_t"),
    ("cstring", "", "std::memcpy std::memcmp std::memset std::memmove std::strlen std::strcmp std::strerror"),
    ("deque", "", "std::deque"),
    ("exception", "stdexcept", "std::exception* std::current_exception std::rethrow_exception std::uncaught_exceptions"),
    ("filesystem", "", "std::filesystem"),
    ("fstream", "", "std::ifstream std::ofstream std::fstream"),
    ("functional", "", "std::function std::reference_wrapper std::ref( std::cref( std::plus std::identity"),
    ("functional", "map set", "std::less std::greater"),
    ("initializer_list", _CONTAINERS + " string_view optional utility", "std::initializer_list"),
    ("iostream", "", "std::cout std::cerr std::cin"),
    ("iterator", "", "std::back_inserter std::inserter( std::istreambuf_iterator std::make_move_iterator"),
    ("iterator", _CONTAINERS + " string_view", "std::next( std::prev( std::distance( std::advance( std::size( std::begin( std::end("),
    ("limits", "", "std::numeric_limits"),
    ("list", "", "std::list"),
    ("map", "", "std::map std::multimap"),
    ("memory", "", "std::unique_ptr std::shared_ptr std::weak_ptr std::make_unique std::make_shared std::enable_shared_from_this "
     "std::static_pointer_cast std::dynamic_pointer_cast std::addressof"),
    ("mutex", "", "std::mutex std::lock_guard std::unique_lock std::scoped_lock std::once_flag"),
    ("numeric", "", "std::accumulate( std::iota( std::gcd( std::lcm( std::midpoint("),
    ("optional", "", "std::optional std::nullopt std::make_optional"),
    ("queue", "", "std::queue std::priority_queue"),
    ("set", "", "std::set std::multiset"),
    ("source_location", "", "std::source_location"),
    ("span", "", "std::span"),
    ("sstream", "", "std::stringstream std::ostringstream std::istringstream"),
    ("stdexcept", "", "std::runtime_error std::logic_error std::invalid_argument std::out_of_range"),
    ("string", "", "std::string std::to_string std::stoi std::getline"),
    ("string_view", "string", "std::string_view"),
    ("thread", "", "std::thread std::this_thread"),
    ("tuple", "", "std::tuple std::tie( std::make_tuple std::apply( std::forward_as_tuple"),
    ("type_traits", _CONTAINERS + " optional utility variant", "std::is_* std::decay_t std::remove_* std::conditional_t "
     "std::enable_if_t std::invoke_result_t std::underlying_type_t"),
    ("typeinfo", "", "typeid("),
    ("utility", _CONTAINERS + " optional variant tuple", "std::move std::forward std::pair std::swap std::make_pair"),
    ("utility", "", "std::exchange std::as_const std::in_place std::in_range std::to_underlying"),
    ("variant", "", "std::variant std::visit std::get_if std::holds_alternative std::monostate"),
    ("vector", "", "std::vector"),
    ("absl/status/status.h", "absl/status/statusor.h", "absl::Status absl::OkStatus absl::StatusCode"),
    ("absl/status/statusor.h", "", "absl::StatusOr"),
    ("fmt/format.h", "fmt/ranges.h", "fmt::format fmt::format_to fmt::to_string fmt::format_string"),
    ("fmt/ranges.h", "fmt/format.h", "fmt::join"),
    ("gtest/gtest.h", "gmock/gmock.h", "TEST( TEST_F( TEST_P( EXPECT_EQ( EXPECT_TRUE( EXPECT_FALSE( ASSERT_EQ( ASSERT_TRUE( ADD_FAILURE("),
    ("gmock/gmock.h", "", "EXPECT_THAT( ASSERT_THAT( EXPECT_CALL( MOCK_METHOD( MATCHER( MATCHER_P("),
]

_TYPE = re.compile(r"\b(?:class|struct|union|enum(?:\s+class)?)\s+([A-Z]\w*)\s*(?:final\s*)?(?::[^;{]*)?\{|\busing\s+([A-Z]\w*)\s*=")
_FUNCTION = re.compile(r"[\w>&*]\s+[&*]?([A-Z]\w*)\(")
_CONSTANT = re.compile(r"\b(k[A-Z]\w*)\s*(?:\[[^\]]*\])?\s*[={]")
_MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", re.M)
_DIRECTIVE = re.compile(r"^\s*#.*(?:\\\n.*)*$", re.M)
# Whatever may declare a name, a member or a local one included: a name that is declared nearer may be another.
_KEYWORDS = "return new else case throw delete co_return const goto typename and or not".split()
_ANY_DECLARATION = re.compile(r"(\b\w+|[>&*])\s+[&*]*([A-Zk]\w*)\s*(?=[(;={,)\[])")
_ANY_TYPE = re.compile(r"\b(?:class|struct|union|enum(?:\s+class)?|using|concept|namespace|typename(?:\.\.\.)?)\s+(\w+)\b(?!\s*::)")
_ENUMERATOR = re.compile(r"[{,]\s*(k[A-Z]\w*)\s*(?=[,}=])")
_USING = re.compile(r"\busing\s+(?:namespace\s+)?(?:\w+::)*(\w+)\s*;")
_USE = re.compile(r"(?<![\w.])(?<!->)(?<!::)(?:\w+::)*\w+\b")
_OURS = re.compile(r"[A-Zk]\w*")


class Library:
    """Which rows of HEADERS a name belongs to; "std::chrono::seconds" to those of "std::chrono"."""

    USE = re.compile(r"(?<![\w:])(?:::)?((?:std|fmt|absl)(?:::\w+)+|(?:[A-Z][A-Z_]+|typeid)(?=\())(?=\s*([(<]?))")

    def __init__(self):
        self.rows = [(header, {header, *others.split()}) for header, others, _ in HEADERS]
        self.exact, self.begins = collections.defaultdict(list), []
        for number, (_, _, names) in enumerate(HEADERS):
            for name in names.split():
                if name.endswith("*"):
                    self.begins.append((name[:-1], number))
                else:
                    self.exact[name].append(number)

    @functools.cache
    def of(self, name, called):
        parts = name.split("::")
        wholes = ["::".join(parts[:n]) for n in range(1, len(parts) + 1)]
        rows = [row for whole in wholes for row in self.exact.get(whole, [])]
        rows += self.exact.get(name + "(", []) if called else []
        return rows + [row for start, row in self.begins if name.startswith(start)]

    def uses(self, code, reach):
        found = {}
        for match in self.USE.finditer(code):
            for row in self.of(match.group(1), bool(match.group(2))):
                header, any_of = self.rows[row]
                if header not in found and not any_of & reach:
                    found[header] = (match.start(1), match.group(1), f"include <{header}>")
        return found.values()


def outermost(code):
    """What stands at namespace level: bodies are left out, but for their first brace. And the namespaces that are opened."""
    out, spaces, open_spaces, depth, start = [], set(), [], 0, 0
    for match in re.finditer(r"[{};]", code):
        token = match.group(0)
        if depth:
            depth += {"{": 1, "}": -1}.get(token, 0)
        else:
            head = code[start:match.end()]
            out.append(head)
            space = re.search(r"\bnamespace\b\s*([\w:]*)\s*\{$", head)
            if space:
                open_spaces.append(space.group(1))
                spaces.add("::".join(filter(None, open_spaces)))
            elif token == "{":
                depth = 1
            elif token == "}" and open_spaces:
                open_spaces.pop()
        start = match.end()
    return "".join(out), spaces


def found_by(patterns, code):
    return {name for pattern in patterns for match in pattern.finditer(code) for name in match.groups() if name}


def may_declare(code):
    names = {name for word, name in _ANY_DECLARATION.findall(code) if word not in _KEYWORDS}
    return names.union(_ANY_TYPE.findall(code), _ENUMERATOR.findall(code))


class Tree:
    def __init__(self, root):
        self.root = root
        self.floors = check_floors.read_floors(root)
        self.library = Library()
        self.code, self.includes, self.reached = {}, {}, {}
        for path in tree.files(root, ".h", ".cc"):
            if path.startswith(check_floors.OUTSIDE):
                continue
            text = tree.code_only(tree.read(root, path))
            self.includes[path] = {m.group(2) for m in check_floors.INCLUDE.finditer(text)}
            self.code[path] = tree.code_only(text, keep_strings=False)
        headers = collections.defaultdict(set)
        self.spaces, self.using = {}, {}
        self.scoped = set()  # names of types and constants: no argument's namespace brings them in
        self.near = collections.defaultdict(set)  # name: the files that may declare it
        for path, code in self.code.items():
            outer, self.spaces[path] = outermost(_DIRECTIVE.sub("", code))
            self.using[path] = set(_USING.findall(code))
            for name in may_declare(code):
                self.near[name].add(path)
            if path.endswith(".h"):
                scoped = found_by([_TYPE, _CONSTANT], outer)
                self.scoped |= scoped
                macros = {name for name in _MACRO.findall(code) if not name.endswith("_H_")}
                for name in scoped | macros | found_by([_FUNCTION], outer):
                    headers[name].add(path)
        self.header = {name: min(paths) for name, paths in headers.items() if len(paths) == 1}

    def reach(self, path):
        """All that the file includes, by its own includes and those of our headers."""
        if path not in self.reached:
            seen, todo = set(), [path]
            while todo:
                for name in self.includes.get(todo.pop(), set()) - seen:
                    seen.add(name)
                    todo.append(name.removeprefix("vigil/"))
            self.reached[path] = seen
        return self.reached[path]

    def declared_nearer(self, path, name, header):
        reach = self.reach(path)
        return any(near == path or "vigil/" + near in reach for near in self.near[name] if near != header)

    def may_include(self, path, header):
        home = check_floors.folder_of(path, self.floors)
        return home and not check_floors.check_include(path, home, "vigil/" + header, True, self.floors, self.root)

    def is_visible(self, path, name, header):
        """Without a scope."""
        theirs = self.spaces[header]
        if any(own == their or own.startswith(their + "::") for own in self.spaces[path] for their in theirs):
            return True
        known = {name} | {their.rpartition("::")[2] for their in theirs}  # by `using`, by `using namespace`
        return any(known & self.using.get(other.removeprefix("vigil/"), set()) for other in {path} | self.reach(path))

    def fault(self, path, scope, name):
        header = self.header.get(name)
        if header is None or header == path:
            return None
        if "vigil/" + header not in self.reach(path):
            elsewhere = scope and not any(scope == space.rpartition("::")[2] for space in self.spaces[header])
            if elsewhere or self.declared_nearer(path, name, header) or not self.may_include(path, header):
                return None
            return f'include "vigil/{header}"'
        if scope or name not in self.scoped or self.is_visible(path, name, header) or self.declared_nearer(path, name, header):
            return None
        return f"say of which namespace it is: {min(self.spaces[header])}"

    def faults(self, path):
        """(where, name, what to do) of each name that the file has from another one."""
        code, seen = self.code[path], set()
        yield from self.library.uses(code, self.reach(path))
        for match in _USE.finditer(code):
            names = match.group(0).split("::")
            for scope, name in zip([None, *names], names):
                if not _OURS.match(name) or (scope, name) in seen:
                    continue
                seen.add((scope, name))
                fault = self.fault(path, scope, name)
                if fault:
                    yield match.start(), name, fault


def check(root):
    files = Tree(root)
    errors = []
    for path, code in files.code.items():
        for where, name, fault in files.faults(path):
            errors.append(f"{path}:{code.count(chr(10), 0, where) + 1}: {name}: {fault}")
    return errors


def self_test():
    floors = "# top first\nsim\ncore/io core/graph\ncore/base\n"
    base = ("#ifndef B_H_\n#define B_H_\n#include <string>\nnamespace vigil {\nclass Basis {\n  int Member(int x) { return x; }\n};\n"
            "enum class Kind { kOne, kTwo };\nusing Alias = int;\nint Freely(int a);\ninline constexpr int kMost = 3;\n"
            "class Later;\n}\n#define VIGIL_TELL(x) (x)\n#endif\n")
    through = '#include "vigil/core/base/base.h"\nnamespace vigil {\nvoid Other();\n}\n'
    other = "namespace vigil::sim {\nclass Basis2 {};\nint Other2();\n}\n"

    def row(name, text, *wanted, path="core/io/a.cc", also=""):
        contents = {".ci/floors.txt": floors, "core/base/base.h": base, "core/io/through.h": through, "sim/other.h": other,
                    "core/io/also.h": also, path: text}
        tree.expect(name, tree.planted(check, contents), wanted)

    for header, _, names in HEADERS:
        for used in names.split():
            call = used.rstrip("*").removesuffix("(") + ("(" if used.endswith("(") else "some " if used.endswith("*") else " ")
            errors = tree.planted(check, {".ci/floors.txt": floors, "core/io/a.cc": f"\nauto x = {call}a);\n"})
            if not any(e.startswith("core/io/a.cc:2: ") and f"<{header}>" in e for e in errors):
                sys.exit(f"self-test {used}: {errors}")
    row("a library's", "#include <vector>\nstd::vector<int> a;\nstd::map<int, int> b;\n", "core/io/a.cc:3: std::map: include <map>")
    row("once a file", "std::map<int, int> a, b;\nstd::map<int, int> c;\n", "a.cc:1: std::map")
    row("of a header of ours", '#include "vigil/core/io/through.h"\nstd::string a;\n')
    row("what declares it, too", "#include <vector>\nstd::size_t a;\n")
    row("a part of it", "std::chrono::seconds a;\nint b = std::ranges::find_if(c);\n", "<chrono>", "<algorithm>")
    row("not called", "int a = other::min(b);\nint c = max(d);\n")
    row("in a comment or a string", 'const char* a = "std::map";  // std::map\n')
    row("a macro of a library", "TEST(A, B) {}\n", "include <gtest/gtest.h>")
    for used in ("Basis a;", "Kind a;", "Alias a;", "int a = Freely(1);", "int a = kMost;", "VIGIL_TELL(a);", "vigil::Basis a;"):
        row(used, used + "\n", 'include "vigil/core/base/base.h"')
        row("reached: " + used, '#include "vigil/core/io/through.h"\nnamespace vigil {\n' + used + "\n}\n")
    row("the header itself", "namespace vigil {\nclass Own {};\nOwn a;\n}\n", path="core/io/own.h")
    row("declared nearer", "class Basis {};\nBasis a;\n")
    row("a member of that name", "struct A {\n  std::vector<int> Freely(int);\n};\n#include <vector>\n")
    row("of another scope", "int a = Mine::Freely(1);\nint b = c.Freely(2) + d->Freely(3);\n")
    row("a member is no name of the header's", "int a = Member(1);\n")
    row("a forward declaration is none", "Later* a;\n")
    row("it may not include", "Basis2 a;\nint b = Other2();\n")
    there = '#include "vigil/core/io/also.h"\n'
    space = "namespace vigil::io {\nstruct Told {};\nenum class Rank { kHigh };\nint Say(Told a);\n}\n"
    row("of another namespace", there + "namespace vigil {\nTold a;\nauto b = Rank::kHigh;\n}\n", "a.cc:3: Told: say of which",
        "a.cc:4: Rank: say of which namespace it is: vigil::io", also=space)
    row("named with it", there + "namespace vigil {\nio::Told a;\nauto b = vigil::io::Rank::kHigh;\n}\n", also=space)
    row("in it", there + "namespace vigil::io::inner {\nTold a;\n}\n", also=space)
    row("using", there + "namespace vigil {\nusing io::Told;\nTold a;\n}\n", also=space)
    row("using all", there + "namespace vigil {\nusing namespace io;\nTold a;\n}\n", also=space)
    row("a header uses it", there + "Told a;\n", also=space + "namespace vigil {\nusing io::Told;\n}\n")
    row("found by its argument", there + "namespace vigil {\nint a = Say(io::Told());\n}\n", also=space)
    row("a parameter of that name", there + "template <typename Told>\nvoid F(Told a);\ntemplate <typename... Rank>\nvoid G(Rank... a);\n", also=space)
    row("two headers have it", "int a = Freely(1);\n", also="namespace vigil {\nint Freely(char a);\n}\n")


if __name__ == "__main__":
    tree.main(check, self_test)
