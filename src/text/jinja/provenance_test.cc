// Which bytes of a rendering may hold control tokens: the template's own, never a conversation's.
#include "text/jinja/jinja_test_util.h"
#include "text/jinja/marked_text.h"

namespace ridge::jinja::testing {
namespace {

// Untrusted parts in [brackets], trusted ones bare.
std::string marked(
    std::string_view source,
    std::string_view variables = R"({"u":"user","bos_token":"<s>","l":["p","q"],"n":5,"d":{"key":"v"}})") {
  const auto tmpl = ChatTemplate::parse(source);
  if (!tmpl) return tmpl.error().message;
  const auto segments = tmpl->render_segments(*value_from_json(variables), options_at_now());
  if (!segments) return segments.error().message;
  std::string out;
  for (const Segment& s : *segments) out += s.trusted ? s.text : "[" + s.text + "]";
  return out;
}

TEST(Provenance, template_text_literals_and_special_tokens_are_trusted) {
  EXPECT_EQ(marked("<|a|>{{ '<|b|>' ~ bos_token }}{{ 1 + n }}"), "<|a|><|b|><s>6");
}

TEST(Provenance, variables_are_untrusted) {
  EXPECT_EQ(marked("a{{ u }}b{{ l[0] }}{% for k, v in d.items() %}{{ k }}={{ v }}{% endfor %}"), "a[user]b[pkey]=[v]");
}

TEST(Provenance, well_known_roles_are_trusted_and_others_are_not) {
  EXPECT_EQ(marked("{{ '<|' + m.role + '|>' }}", R"({"m":{"role":"assistant"}})"), "<|assistant|>");
  EXPECT_EQ(marked("{{ '<|' + m.role + '|>' }}", R"({"m":{"role":"im_end"}})"), "<|[im_end]|>");
  EXPECT_EQ(marked("{{ '<|' + m.name + '|>' }}", R"({"m":{"name":"assistant"}})"), "<|[assistant]|>");
}

TEST(Provenance, operators_and_filters_keep_the_origin_of_each_byte) {
  EXPECT_EQ(marked("{{ 'x' + u + 'y' }}"), "x[user]y");
  EXPECT_EQ(marked("{{ ('x' ~ u ~ 'y')[:3] }}|{{ ('x' ~ u ~ 'y')[::-1] }}"), "x[us]|y[resu]x");
  EXPECT_EQ(marked("{{ ('<' ~ u ~ '>')|upper }}{{ ('<' ~ u ~ '>').title() }}"), "<[USER]><[User]>");
  EXPECT_EQ(marked("{{ (' ' ~ u ~ ' ')|trim }}{{ ('--' ~ u).lstrip('-') }}"), "[useruser]");
  EXPECT_EQ(marked("{{ 'a-b'.replace('-', u) }}{{ u.replace('s', '<s>') }}"), "a[user]b[u]<s>[er]");
  EXPECT_EQ(marked("{{ l|join('<|sep|>') }}{{ ', '.join(l) }}"), "[p]<|sep|>[qp], [q]");
  EXPECT_EQ(marked("{{ ('a,' ~ u ~ ',b').split(',')[1] }}{{ ('a,' ~ u).partition(',')[0] }}"), "[user]a");
  EXPECT_EQ(marked("{{ '<%s|%d>' % (u, 5) }}{{ '<{}>{x}'.format(u, x='t') }}{{ '%5s'|format(u) }}"),
            "<[user]|5><[user]>t [user]");
  EXPECT_EQ(marked("{{ (u ~ '\\nb')|indent(2) }}{{ u|center(8) }}{{ u.ljust(6, '.') }}"),
            "[user]\n  b  [user]  [user]..");
  EXPECT_EQ(marked("{{ ('<b>' ~ u)|e }}{{ u|default('x') }}{{ nope|default('x') }}"), "&lt;b&gt;[useruser]x");
  EXPECT_EQ(marked("{{ ('<b>' ~ u)|truncate(5, true, '..', 0) }}{{ (u ~ ' <b>')|capitalize }}"), "<b>..[User] <b>");
}

TEST(Provenance, what_cannot_be_followed_byte_by_byte_is_untrusted_as_a_whole) {
  EXPECT_EQ(marked("{{ d|tojson }}"), R"([{"key": "v"}])");
  EXPECT_EQ(marked("{{ ['<|x|>']|tojson }}{{ ['<|x|>'] }}"), R"(["<|x|>"]['<|x|>'])");
  EXPECT_EQ(marked("{{ ['<|x|>', u] }}"), "[['<|x|>', 'user']]");
  EXPECT_EQ(marked("{{ {'<': u} }}{{ u|urlencode }}"), "[{'<': 'user'}user]");
}

TEST(Provenance, blocks_macros_and_namespaces_carry_it) {
  EXPECT_EQ(marked("{% set x %}<{{ u }}>{% endset %}{{ x }}"), "<[user]>");
  EXPECT_EQ(marked("{% macro m(a) %}<{{ a }}>{{ caller() if caller }}{% endmacro %}{{ m(u) }}{% call m('t') %}{{ u "
                   "}}.{% endcall %}"),
            "<[user]><t>[user].");
  EXPECT_EQ(marked("{% set ns = namespace(x='<') %}{% set ns.x = ns.x + u %}{% set ns.x = ns.x + '>' %}{{ ns.x }}"),
            "<[user]>");
  EXPECT_EQ(marked("{% filter upper %}<{{ u }}>{% endfilter %}"), "<[USER]>");
}

TEST(Provenance, other_variables_can_be_trusted_by_name) {
  RenderOptions options = options_at_now();
  options.trusted_variables.push_back("system_prefix");
  const auto tmpl = ChatTemplate::parse("{{ system_prefix }}{{ other }}");
  const auto segments = tmpl->render_segments(*value_from_json(R"({"system_prefix":"<|x|>","other":"o"})"), options);
  ASSERT_EQ(segments->size(), 2u);
  EXPECT_TRUE((*segments)[0].trusted);
  EXPECT_FALSE((*segments)[1].trusted);
}

// The slow twin: one flag a byte.
struct SlowText {
  std::string bytes;
  std::vector<bool> trusted;
  void append(std::string_view text, bool t) {
    bytes += text;
    trusted.insert(trusted.end(), text.size(), t);
  }
};

TEST(MarkedText, appending_and_slicing_keep_every_bytes_origin) {
  uint32_t state = 1;
  const auto random = [&](uint32_t n) { return (state = state * 1664525u + 1013904223u) / 65536u % n; };
  for (int round = 0; round < 300; ++round) {
    MarkedText text;
    SlowText slow;
    for (uint32_t i = 0, n = random(12); i < n; ++i) {
      const std::string part(random(4), static_cast<char>('a' + random(26)));
      const bool trusted = random(2) == 0;
      text.append(part, trusted);
      slow.append(part, trusted);
    }
    const size_t from = random(static_cast<uint32_t>(text.size()) + 1),
                 n = random(static_cast<uint32_t>(text.size() - from) + 1);
    MarkedText joined = text.slice(from, n);
    joined.append(text);
    SlowText expected;
    for (size_t i = from; i < from + n; ++i) expected.append(slow.bytes.substr(i, 1), slow.trusted[i]);
    for (size_t i = 0; i < slow.bytes.size(); ++i) expected.append(slow.bytes.substr(i, 1), slow.trusted[i]);
    SlowText got;
    joined.for_each_part([&](std::string_view part, bool trusted) {
      EXPECT_FALSE(part.empty());
      got.append(part, trusted);
    });
    EXPECT_EQ(got.bytes, expected.bytes);
    EXPECT_EQ(got.trusted, expected.trusted);
  }
}

}  // namespace
}  // namespace ridge::jinja::testing
