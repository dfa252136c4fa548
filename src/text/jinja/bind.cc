// Owns the scoping rules. They were read off Jinja2 3.1's idtracking.py and compiler.py as behaviour: a name that a
// frame assigns anywhere is that frame's own from its start (undefined until assigned, or the outer value if an outer
// frame has one); a name assigned in some branches only falls back to the outer value or the render's variables.
#include "text/jinja/bind.h"

#include <map>
#include <optional>
#include <set>

#include "text/jinja/failure.h"

namespace ridge::jinja {

namespace {

// One frame's names; or, with `base`, what one branch of an `if` adds to them.
struct Symbols {
  Symbols(FrameInfo& i, Symbols* p) : info(i), parent(p) { info.level = p == nullptr ? 0 : p->info.level + 1; }
  explicit Symbols(Symbols* b) : info(b->info), parent(b->parent), base(b) {}

  FrameInfo& info;
  Symbols* const parent;
  Symbols* const base = nullptr;
  std::map<std::string, uint32_t> refs;
  std::map<uint32_t, Load> loads;
  std::set<std::string> stores;
  std::map<std::string, uint32_t> slots;  // of the whole frame; in the Symbols without base

  uint32_t slot_of(const std::string& name) {
    Symbols* root = this;
    while (root->base != nullptr) root = root->base;
    const auto [at, added] = root->slots.try_emplace(name, static_cast<uint32_t>(root->info.names.size()));
    if (added) root->info.names.push_back(name);
    return at->second;
  }
  std::optional<uint32_t> own_ref(const std::string& name) const {
    for (const Symbols* s = this; s != nullptr; s = s->base) {
      if (const auto at = s->refs.find(name); at != s->refs.end()) return at->second;
    }
    return std::nullopt;
  }
  std::optional<SlotRef> find_ref(const std::string& name) const {
    for (const Symbols* s = this; s != nullptr; s = s->parent) {
      if (const auto slot = s->own_ref(name)) return SlotRef{s->info.level, *slot};
    }
    return std::nullopt;
  }
  bool has_store(const std::string& name) const {
    for (const Symbols* s = this; s != nullptr; s = s->base) {
      if (s->stores.count(name) != 0) return true;
    }
    return false;
  }
  uint32_t define(const std::string& name, Load load) {
    const uint32_t slot = slot_of(name);
    refs[name] = slot;
    loads[slot] = load;
    return slot;
  }
  void store(const std::string& name) {
    stores.insert(name);
    if (own_ref(name)) return;
    const auto outer = parent == nullptr ? std::nullopt : parent->find_ref(name);
    define(name, outer ? Load{LoadAction::alias, 0, *outer} : Load{});
  }
  uint32_t parameter(const std::string& name) {
    stores.insert(name);
    return define(name, Load{LoadAction::parameter, 0, {}});
  }
  void finish() {
    info.loads.assign(info.names.size(), Load{});
    for (const auto& [slot, load] : loads) info.loads[slot] = load;
  }
};

// Which of the asked-for names a body reads without having assigned them first, in the order of the text.
class UndeclaredNames {
 public:
  explicit UndeclaredNames(std::set<std::string> names) : names_(std::move(names)) {}
  bool has(const std::string& name) const { return found_.count(name) != 0; }

  void visit(const Body& body) {
    for (const auto& s : body) visit(*s);
  }

 private:
  void visit(const Expr* e) {
    if (e == nullptr) return;
    if (e->kind == ExprKind::name && names_.count(e->text) != 0) found_.insert(e->text);
    for (const ExprPtr& kid : e->kids) visit(kid.get());
  }
  void assign(const Expr& target) {
    if (target.kind == ExprKind::name) names_.erase(target.text);
    for (const ExprPtr& kid : target.kids) assign(*kid);
  }
  void visit(const Statement& s) {
    if (s.kind == StmtKind::block) return;
    if (s.kind == StmtKind::call_block) visit(s.expr.get());
    for (const ExprPtr& target : s.targets) assign(*target);
    for (const ExprPtr& e : s.exprs) visit(e.get());
    if (s.kind != StmtKind::call_block) visit(s.expr.get());
    visit(s.body);
    visit(s.else_body);
    visit(s.test.get());
    for (const Branch& branch : s.branches) {
      visit(branch.test.get());
      visit(branch.body);
    }
  }

  std::set<std::string> names_, found_;
};

struct Place {
  bool soft = false;        // inside an `if`: an unknown filter fails only when it is reached
  bool in_loop = false;     // break and continue may stand here
  bool inside_for = false;  // the name `loop` may not be assigned
};

class Binder {
 public:
  explicit Binder(Template& tmpl) : tmpl_(tmpl) {}

  void run() {
    Symbols root(tmpl_.frame, nullptr);
    scan(tmpl_.body, root);
    root.finish();
    bind_body(tmpl_.body, root, {});
  }

 private:
  uint32_t context_name(const std::string& name) {
    const auto [at, added] = context_.try_emplace(name, static_cast<uint32_t>(tmpl_.context_names.size()));
    if (added) tmpl_.context_names.push_back(name);
    return at->second;
  }
  Load resolve(const std::string& name) { return Load{LoadAction::resolve, context_name(name), {}}; }

  void load(Symbols& sym, const std::string& name) {
    if (!sym.find_ref(name)) sym.define(name, resolve(name));
  }

  // ---- scan: which names a frame has, before any is bound ----

  void scan(const Body& body, Symbols& sym) {
    for (const auto& s : body) scan(*s, sym);
  }

  void scan(const Expr* e, Symbols& sym) {
    if (e == nullptr) return;
    if (e->kind == ExprKind::name) load(sym, e->text);
    for (const ExprPtr& kid : e->kids) scan(kid.get(), sym);
  }

  void scan_target(const Expr& target, Symbols& sym, bool as_parameter) {
    if (target.kind == ExprKind::namespace_target) {
      load(sym, target.value.bytes());
    } else if (target.kind == ExprKind::name) {
      if (as_parameter) {
        sym.parameter(target.text);
      } else {
        sym.store(target.text);
      }
    }
    for (const ExprPtr& kid : target.kids) scan_target(*kid, sym, as_parameter);
  }

  void scan(const Statement& s, Symbols& sym) {
    switch (s.kind) {
      case StmtKind::output:
      case StmtKind::with:
        for (const ExprPtr& e : s.exprs) scan(e.get(), sym);
        break;
      case StmtKind::set:
        scan(s.expr.get(), sym);
        scan_target(*s.targets[0], sym, false);
        break;
      case StmtKind::set_block:
        scan_target(*s.targets[0], sym, false);
        break;
      case StmtKind::for_:
      case StmtKind::call_block:
      case StmtKind::filter_block:
        scan(s.expr.get(), sym);
        break;
      case StmtKind::macro:
        sym.store(s.name);
        break;
      case StmtKind::if_:
        scan_if(s, 0, sym);
        break;
      default:
        break;
    }
  }

  // The branches that follow branch `first` are one alternative (the elifs) and the else another, as in Jinja2's tree.
  void scan_if(const Statement& s, size_t first, Symbols& sym) {
    const size_t n = s.branches.size();
    const bool has_else = s.branches.back().test == nullptr;
    scan(s.branches[first].test.get(), sym);
    Symbols body(&sym), elifs(&sym), otherwise(&sym);
    scan(s.branches[first].body, body);
    for (size_t i = 1; i < n - has_else; ++i) {
      Symbols elif_body(&elifs), nothing(&elifs), nothing_either(&elifs);
      scan(s.branches[i].test.get(), elifs);
      scan(s.branches[i].body, elif_body);
      merge(elifs, {&elif_body, &nothing, &nothing_either});
    }
    if (has_else) scan(s.branches.back().body, otherwise);
    merge(sym, {&body, &elifs, &otherwise});
  }

  void merge(Symbols& sym, std::initializer_list<Symbols*> branches) {
    std::map<std::string, size_t> counts;
    for (const Symbols* branch : branches) {
      for (const std::string& name : branch->stores) {
        if (!sym.has_store(name)) ++counts[name];
      }
    }
    for (const Symbols* branch : branches) {
      for (const auto& [name, slot] : branch->refs) sym.refs[name] = slot;
      for (const auto& [slot, load] : branch->loads) sym.loads[slot] = load;
      sym.stores.insert(branch->stores.begin(), branch->stores.end());
    }
    for (const auto& [name, count] : counts) {
      if (count == branches.size()) continue;
      const auto outer = sym.parent == nullptr ? std::nullopt : sym.parent->find_ref(name);
      sym.loads[*sym.own_ref(name)] = outer ? Load{LoadAction::alias, 0, *outer} : resolve(name);
    }
  }

  // ---- bind: slots into the nodes ----

  void bind_expr(Expr* e, Symbols& sym, bool soft) {
    if (e == nullptr) return;
    if (e->kind == ExprKind::name) {
      e->slot = *sym.find_ref(e->text);
    } else if (e->kind == ExprKind::filter || e->kind == ExprKind::test) {
      const bool is_filter = e->kind == ExprKind::filter;
      e->function = is_filter ? find_filter(e->text) : find_test(e->text);
      if (e->function == nullptr && !soft) {
        throw Failure{"TemplateAssertionError",
                      fmt::format("No {} named '{}'.", is_filter ? "filter" : "test", e->text), e->line,
                      ErrorCode::template_error};
      }
    }
    soft |= e->kind == ExprKind::conditional;
    for (const ExprPtr& kid : e->kids) bind_expr(kid.get(), sym, soft);
  }

  void bind_target(Expr& target, Symbols& sym, const Place& place) {
    if (target.kind == ExprKind::namespace_target) {
      target.slot = *sym.find_ref(target.value.bytes());
    } else if (target.kind == ExprKind::name) {
      if (place.inside_for && target.text == "loop") {
        throw Failure{"TemplateAssertionError", "Can't assign to special loop variable in for-loop target", target.line,
                      ErrorCode::template_error};
      }
      target.slot = *sym.find_ref(target.text);
    }
    for (const ExprPtr& kid : target.kids) bind_target(*kid, sym, place);
  }

  void bind_body(Body& body, Symbols& sym, const Place& place) {
    for (const auto& s : body) bind_statement(*s, sym, place);
  }

  void bind_statement(Statement& s, Symbols& sym, const Place& place) {
    switch (s.kind) {
      case StmtKind::data:
        return;
      case StmtKind::output:
        for (const ExprPtr& e : s.exprs) bind_expr(e.get(), sym, place.soft);
        return;
      case StmtKind::set:
        bind_expr(s.expr.get(), sym, place.soft);
        bind_target(*s.targets[0], sym, place);
        return;
      case StmtKind::set_block:
      case StmtKind::filter_block:
        return bind_captured(s, sym, place);
      case StmtKind::for_:
        return bind_for(s, sym, place);
      case StmtKind::if_:
        for (Branch& branch : s.branches) {
          Place inner = place;
          inner.soft = true;
          bind_expr(branch.test.get(), sym, true);
          bind_body(branch.body, sym, inner);
        }
        return;
      case StmtKind::macro:
        s.slot = *sym.find_ref(s.name);
        return bind_macro(s, sym, place);
      case StmtKind::call_block:
        bind_expr(s.expr.get(), sym, place.soft);
        return bind_macro(s, sym, place);
      case StmtKind::generation:
        return bind_macro(s, sym, place);
      case StmtKind::with:
        return bind_with(s, sym, place);
      case StmtKind::block:
        return bind_block(s, place);
      case StmtKind::break_:
      case StmtKind::continue_:
        if (place.in_loop) return;
        throw Failure{"SyntaxError",
                      s.kind == StmtKind::break_ ? "'break' outside loop" : "'continue' not properly in loop", s.line,
                      ErrorCode::template_error};
    }
  }

  void bind_captured(Statement& s, Symbols& sym, Place place) {
    Symbols inner(s.frame, &sym);
    scan(s.body, inner);
    scan(s.expr.get(), inner);
    inner.finish();
    if (!s.targets.empty()) bind_target(*s.targets[0], sym, place);
    place.soft = false;
    bind_expr(s.expr.get(), inner, false);
    bind_body(s.body, inner, place);
  }

  void bind_for(Statement& s, Symbols& sym, const Place& place) {
    Place body_place;
    body_place.in_loop = body_place.inside_for = true;
    if (s.recursive) mark_closure(&sym);
    bind_expr(s.expr.get(), sym, place.soft);

    Symbols loop(s.frame, &sym);
    scan_target(*s.targets[0], loop, true);  // first in both frames: the target's slots are then the same
    UndeclaredNames names({"loop"});
    names.visit(s.body);
    if (s.recursive || names.has("loop")) s.loop_slot = static_cast<int>(loop.parameter("loop"));
    scan(s.body, loop);
    loop.finish();
    Place target_place = place;
    target_place.inside_for = true;
    bind_target(*s.targets[0], loop, target_place);

    if (s.test != nullptr) {
      Symbols test(s.test_frame, &sym);
      scan_target(*s.targets[0], test, true);
      scan(s.test.get(), test);
      test.finish();
      bind_expr(s.test.get(), test, false);
    }
    bind_body(s.body, loop, body_place);

    Symbols otherwise(s.else_frame, &sym);
    scan(s.else_body, otherwise);
    otherwise.finish();
    Place else_place = place;
    else_place.soft = false;
    else_place.inside_for = true;
    if (s.recursive) else_place.in_loop = false;
    bind_body(s.else_body, otherwise, else_place);
  }

  void bind_macro(Statement& s, Symbols& sym, const Place& place) {
    if (s.kind != StmtKind::generation) mark_closure(&sym);
    Symbols inner(s.frame, &sym);
    UndeclaredNames names({"caller", "kwargs", "varargs"});
    names.visit(s.body);
    std::set<std::string> parameters;
    for (const ExprPtr& p : s.targets) parameters.insert(p->text);
    for (const ExprPtr& p : s.targets) scan_target(*p, inner, true);
    if (names.has("caller")) {
      if (!s.explicit_caller) {
        s.caller_slot = static_cast<int>(inner.parameter("caller"));
      } else if (!caller_has_default(s)) {
        throw Failure{"TemplateAssertionError",
                      "When defining macros or call blocks the special \"caller\" argument must be omitted or be given "
                      "a default.",
                      s.line, ErrorCode::template_error};
      }
    }
    if (names.has("kwargs") && parameters.count("kwargs") == 0)
      s.kwargs_slot = static_cast<int>(inner.parameter("kwargs"));
    if (names.has("varargs") && parameters.count("varargs") == 0)
      s.varargs_slot = static_cast<int>(inner.parameter("varargs"));
    for (const ExprPtr& e : s.exprs) scan(e.get(), inner);
    scan(s.body, inner);
    inner.finish();
    Place body_place;
    body_place.inside_for = place.inside_for;
    for (const ExprPtr& p : s.targets) bind_target(*p, inner, {});
    for (const ExprPtr& e : s.exprs) bind_expr(e.get(), inner, false);
    bind_body(s.body, inner, body_place);
  }

  static bool caller_has_default(const Statement& s) {
    for (size_t i = s.targets.size() - s.exprs.size(); i < s.targets.size(); ++i) {
      if (s.targets[i]->text == "caller") return true;
    }
    return false;
  }

  void bind_with(Statement& s, Symbols& sym, Place place) {
    for (const ExprPtr& e : s.exprs) bind_expr(e.get(), sym, place.soft);
    Symbols inner(s.frame, &sym);
    for (const ExprPtr& target : s.targets) scan_target(*target, inner, true);
    scan(s.body, inner);
    inner.finish();
    for (const ExprPtr& target : s.targets) bind_target(*target, inner, {});
    place.soft = false;
    bind_body(s.body, inner, place);
  }

  // A block sees the render's variables and what the template's top level assigned, nothing of the scopes around it.
  void bind_block(Statement& s, const Place& place) {
    Symbols inner(s.frame, nullptr);
    scan(s.body, inner);
    inner.finish();
    Place body_place;
    body_place.inside_for = place.inside_for;
    bind_body(s.body, inner, body_place);
  }

  static void mark_closure(Symbols* sym) {
    for (; sym != nullptr; sym = sym->parent) sym->info.has_closure = true;
  }

  Template& tmpl_;
  std::map<std::string, uint32_t> context_;
};

}  // namespace

void bind(Template& tmpl) {
  Binder(tmpl).run();
}

}  // namespace ridge::jinja
