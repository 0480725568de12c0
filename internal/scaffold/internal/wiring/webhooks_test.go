package wiring_test

import (
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/scaffold/internal/wiring"
)

// TestWebhookCondition: the condition is that of the webhooks that are set up where more would be, and nothing else's.
func TestWebhookCondition(t *testing.T) {
	const marker = "\n// +kubebuilder:scaffold:builder\n"
	const called = "if os.Getenv(\"ENABLE_WEBHOOKS\") == \"true\" {\n\texitOnError(w.SetupRWebhookWithManager(mgr), \"r\")\n}"
	for _, test := range []struct{ name, src, want string }{
		{"handed to a function", function(called + marker), `os.Getenv("ENABLE_WEBHOOKS") == "true"`},
		{"a method of the type", function("if enabled {\n\tif err := (&v1.R{}).SetupWebhookWithManager(mgr); err != nil {\n\t\tpanic(err)\n\t}\n}" + marker), "enabled"},
		{"without the marker", function(called + "\nmgr.AddReadyzCheck()"), `os.Getenv("ENABLE_WEBHOOKS") == "true"`},
		{"always", function("exitOnError(w.SetupRWebhookWithManager(mgr), \"r\")" + marker), ""},
		{"always, with an error", function("if err := w.SetupRWebhookWithManager(mgr); err != nil {\n\tpanic(err)\n}" + marker), ""},
		{"not all", function(called + "\n_ = w.SetupQWebhookWithManager(mgr)" + marker), ""},
		{"not the first", function("_ = w.SetupQWebhookWithManager(mgr)\n" + called + marker), ""},
		{"all alike", function(called + "\n" + called + marker), `os.Getenv("ENABLE_WEBHOOKS") == "true"`},
		{"each has its own", function(called + "\nif features.Has(\"Q\") {\n\t_ = w.SetupQWebhookWithManager(mgr)\n}" + marker), ""},
		{"or else", function(called + " else {\n\tx()\n}" + marker), ""},
		{"within another condition", function("if a {\n\tif b {\n\t\t_ = w.SetupRWebhookWithManager(mgr)\n\t}\n}" + marker), ""},
		{"below the place", function(marker + called), ""},
		{"in another function", function(called) + "\nfunc other() {\n\tmgr.AddReadyzCheck()" + marker + "}\n", ""},
		{"a controller", function("if on {\n\t_ = r.SetupWithManager(mgr)\n}" + marker), ""},
		{"none", function("x()"), ""},
		{"not Go", "package", ""},
	} {
		if got := wiring.WebhookCondition([]byte(test.src)); got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}

// TestUnreachable: only a comment behind a return of its own block counts.
func TestUnreachable(t *testing.T) {
	for src, want := range map[string]bool{
		"package p\n\nfunc f() int {\n\treturn 1\n\t// +here\n}\n":                    true,
		"package p\n\nfunc f() int {\n\tif x {\n\t\treturn 1\n\t}\n\n\t// +here\n}\n": false,
		"package p\n\nfunc f() {\n\trun(func() {\n\t\t// +here\n\t})\n\treturn\n}\n":  false,
		"package p\n\nvar a = 1\n\n\n// +here\n":                                      false,
		"a:\n- b\n":                                                                   false,
	} {
		above, _, _ := strings.Cut(src, "// +here")
		line := strings.Count(above, "\n") + 1
		if got := wiring.Unreachable([]byte(src), line); got != want {
			t.Errorf("line %d of\n%s: got %v", line, src, got)
		}
	}
}
