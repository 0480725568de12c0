package wiring_test

import (
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/scaffold/internal/wiring"
)

// function is a Go file with a function that imports are of no concern to.
func function(body string) string {
	return "package main\n\nfunc main() {\n\t" + strings.ReplaceAll(body, "\n", "\n\t") + "\n}\n"
}

// TestSchemePlace: types are registered below others, in whatever form these are.
func TestSchemePlace(t *testing.T) {
	for _, test := range []struct {
		name, src     string
		above, scheme string // the line above the place, without its indentation
	}{
		{"Must", function("utilruntime.Must(a.AddToScheme(scheme))\nb()"), "utilruntime.Must(a.AddToScheme(scheme))", "scheme"},
		{"the last of several", function("_ = a.AddToScheme(s)\n_ = b.AddToScheme(s)"), "_ = b.AddToScheme(s)", "s"},
		{"a condition", function("if err := a.AddToScheme(s); err != nil {\n\tos.Exit(1)\n}\nb()"), "}", "s"},
		{"an error looked at afterwards", function("err = a.AddToScheme(scheme.Scheme)\nExpect(err).NotTo(HaveOccurred())"), "Expect(err).NotTo(HaveOccurred())", "scheme.Scheme"},
		{"of a manager", function("mgr := make()\nif err := a.AddToScheme(mgr.GetScheme()); err != nil {\n\tpanic(err)\n}"), "}", "mgr.GetScheme()"},
		{"by a builder", function("must(a.SchemeBuilder.AddToScheme(s))"), "must(a.SchemeBuilder.AddToScheme(s))", "s"},
		{"not in a condition of something else", function("_ = a.AddToScheme(s)\nif x {\n\t_ = b.AddToScheme(s)\n}"), "_ = a.AddToScheme(s)", "s"},
		{"returned", "package p\n\nfunc add(s *Scheme) error {\n\treturn a.AddToScheme(s)\n}\n", "func add(s *Scheme) error {", "s"},
		{"a builder of schemes", function("b := runtime.NewSchemeBuilder(a.AddToScheme)\nutilruntime.Must(b.AddToScheme(s))"), "utilruntime.Must(b.AddToScheme(s))", "s"},
		{"a scheme that nothing is registered with", function("s := runtime.NewScheme()\nctrl.NewManager(c, ctrl.Options{Scheme: s})"), "", ""},
		{"another command's", "package p\n\nfunc run() {\n\t// +kubebuilder:scaffold:builder\n}\n\nfunc other() {\n\t_ = a.AddToScheme(t)\n}\n", "", ""},
		{"of init, beside the manager", "package p\n\nfunc run() {\n\t// +kubebuilder:scaffold:builder\n}\n\nfunc init() {\n\t_ = a.AddToScheme(t)\n}\n", "_ = a.AddToScheme(t)", "t"},
		{"of the function with the manager", function("_ = a.AddToScheme(s)\nm.AddHealthzCheck()"), "_ = a.AddToScheme(s)", "s"},
		{"a scheme made on the spot", function("ctrl.NewManager(c, ctrl.Options{Scheme: newScheme()})"), "", ""},
		{"nothing", function("b()"), "", ""},
		{"not Go", "package", "", ""},
	} {
		place, ok := wiring.SchemePlace([]byte(test.src))
		if ok != (test.above != "") {
			t.Errorf("%s: found is %v", test.name, ok)
			continue
		}
		if !ok {
			continue
		}
		if got := strings.TrimSpace(strings.Split(test.src, "\n")[place.Line-1]); got != test.above || place.Scheme != test.scheme || place.Indent != "\t" {
			t.Errorf("%s: below %q, with the scheme %q, indented by %q", test.name, got, place.Scheme, place.Indent)
		}
	}
}

// TestRegisters: every form in which a file registers types is seen, and no other use of their package.
func TestRegisters(t *testing.T) {
	for body, want := range map[string]bool{
		"utilruntime.Must(a.AddToScheme(s))":                                          true,
		"_ = a.SchemeBuilder.AddToScheme(s)":                                          true,
		"b := runtime.NewSchemeBuilder(c.AddToScheme, a.AddToScheme)":                 true,
		"for _, add := range []func(*Scheme) error{a.AddToScheme} {\n\t_ = add(s)\n}": true,
		"_ = b.AddToScheme(s)":                                                        false,
		"_ = a.Kind{}":                                                                false,
	} {
		if got := wiring.Registers([]byte(function(body)), "a"); got != want {
			t.Errorf("%s: %v", body, got)
		}
	}
	if wiring.Registers([]byte("package"), "a") {
		t.Error("what is not Go registers types")
	}
}

// TestSetUpPlace: controllers are set up below others, or above the manager's checks; what the manager is called there
// is seen.
func TestSetUpPlace(t *testing.T) {
	for _, test := range []struct{ name, src, above, manager string }{
		{"below", function("if err = (&c.R{Client: m.GetClient()}).SetupWithManager(m); err != nil {\n\tpanic(err)\n}\nstart()"), "}", "m"},
		{"below, in two steps", function("err = r.SetupWithManager(mgr)\nif err != nil {\n\tpanic(err)\n}\nstart()"), "}", "mgr"},
		{"above", function("b()\n\n// checks\nif err := m.AddHealthzCheck(\"h\", ping); err != nil {\n\tpanic(err)\n}"), "", "m"},
		{"in a closure", function("run(func() {\n\tif err := m.AddReadyzCheck(\"h\", ping); err != nil {\n\t}\n})"), "run(func() {", "m"},
	} {
		place, ok := wiring.SetUpPlace([]byte(test.src))
		if !ok {
			t.Errorf("%s: not found", test.name)
			continue
		}
		if got := strings.TrimSpace(strings.Split(test.src, "\n")[place.Line-1]); got != test.above {
			t.Errorf("%s: below %q", test.name, got)
		}
		if got := wiring.Manager([]byte(test.src)); got != test.manager {
			t.Errorf("%s: the manager is %s", test.name, got)
		}
	}
	if _, ok := wiring.SetUpPlace([]byte(function("b()"))); ok {
		t.Error("there is a place in code without a manager")
	}
}

// TestTake: what wires a kind goes in each of its forms, and nothing else; what is more than that stays, with its line.
func TestTake(t *testing.T) {
	registration := func(src []byte) ([]byte, int) { return wiring.TakeRegistration(src, "a") }
	setUp := func(src []byte) ([]byte, int) { return wiring.TakeSetUp(src, "c.R{") }
	made := func(src []byte) ([]byte, int) { return wiring.TakeSetUp(src, "c.NewR(") }
	webhooks := func(src []byte) ([]byte, int) { return wiring.TakeSetUp(src, "w.SetupRWebhookWithManager(") }
	for _, test := range []struct {
		name         string
		take         func([]byte) ([]byte, int)
		before, want string // of the function's body; the same when it stays
	}{
		{"Must", registration, "x()\nutilruntime.Must(a.AddToScheme(s))\ny()", "x()\ny()"},
		{"ignored", registration, "_ = a.AddToScheme(s)\n_ = b.AddToScheme(s)", "_ = b.AddToScheme(s)"},
		{"a condition", registration, "x()\n\nif err := a.AddToScheme(s); err != nil {\n\tos.Exit(1)\n}\n\ny()", "x()\n\ny()"},
		{"a suite's", registration, "var err error\nerr = a.AddToScheme(s)\nExpect(err).NotTo(HaveOccurred())\nerr = y()\nz(err)", "var err error\nerr = y()\nz(err)"},
		{"several", registration, "_ = a.AddToScheme(s)\n_ = a.AddToScheme(t)\ny()", "y()"},
		{"together with another", registration, "must(a.AddToScheme(s), b.AddToScheme(s))", "must(a.AddToScheme(s), b.AddToScheme(s))"},
		{"returned", registration, "return a.AddToScheme(s)", "return a.AddToScheme(s)"},
		{"a controller", setUp, "x()\nif err = (&c.R{\n\tClient: m.GetClient(),\n\tLog: logs(\"R\"),\n}).SetupWithManager(ctx, m); err != nil {\n\tpanic(err)\n}\ny()", "x()\ny()"},
		{"a controller from a function", made, "x()\nif err = c.NewR(m, 1).SetupWithManager(ctx, m); err != nil {\n\treturn err\n}\ny()", "x()\ny()"},
		{"a controller with a comment", setUp, "if err := (&c.R{\n\tV: 1, // mine\n}).SetupWithManager(m); err != nil {\n\tpanic(err)\n}", "if err := (&c.R{\n\tV: 1, // mine\n}).SetupWithManager(m); err != nil {\n\tpanic(err)\n}"},
		{"webhooks", webhooks, "x()\n// nolint:goconst\nif os.Getenv(\"ENABLE_WEBHOOKS\") != \"false\" {\n\tif err := w.SetupRWebhookWithManager(mgr); err != nil {\n\t\tos.Exit(1)\n\t}\n}\ny()", "x()\ny()"},
		{"webhooks with others", webhooks, "if on {\n\t_ = w.SetupRWebhookWithManager(mgr)\n\t_ = w.SetupQWebhookWithManager(mgr)\n}", "if on {\n\t_ = w.SetupQWebhookWithManager(mgr)\n}"},
		{"none", setUp, "x()", "x()"},
	} {
		got, line := test.take([]byte(function(test.before)))
		if want := function(test.want); string(got) != want {
			t.Errorf("%s: got\n%s", test.name, got)
		}
		if stays := test.before == test.want && test.name != "none"; stays != (line > 0) {
			t.Errorf("%s: the line is %d", test.name, line)
		}
	}
}

func TestTakeImport(t *testing.T) {
	for _, test := range []struct{ name, before, want string }{
		{"with a comment", "package p\n\nimport (\n\t\"a\"\n\tc \"x/c\" // mine\n)\n", "package p\n\nimport (\n\t\"a\"\n)\n"},
		{"alone", "package p\n\nimport \"x/c\"\n\nvar a = 1\n", "package p\n\nvar a = 1\n"},
		{"none", "package p\n\nimport \"x\"\n", "package p\n\nimport \"x\"\n"},
	} {
		if got, line := wiring.TakeImport([]byte(test.before), "x/c"); string(got) != test.want || line > 0 {
			t.Errorf("%s: line %d,\n%s", test.name, line, got)
		}
	}
	if got, line := wiring.TakeImport([]byte("package p\n\nimport (c \"x/c\"; \"a\")\n"), "x/c"); line != 3 {
		t.Errorf("an import with others on its line: line %d,\n%s", line, got)
	}
}

// TestLineComments: comments that say which lines of another file the code is from do not move places.
func TestLineComments(t *testing.T) {
	src := function("//line a.go:9999\nutilruntime.Must(a.AddToScheme(s))\n//line a.go:1\nm.AddReadyzCheck()")
	lines := strings.Split(src, "\n")
	types, ok := wiring.SchemePlace([]byte(src))
	if !ok || !strings.Contains(lines[types.Line-1], "AddToScheme") {
		t.Errorf("types: %+v, %v", types, ok)
	}
	setUp, ok := wiring.SetUpPlace([]byte(src))
	if !ok || !strings.Contains(lines[setUp.Line], "//line") && !strings.Contains(lines[setUp.Line], "AddReadyzCheck") {
		t.Errorf("controllers: %+v, %v", setUp, ok)
	}
}
