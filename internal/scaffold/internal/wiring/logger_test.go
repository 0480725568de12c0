package wiring_test

import (
	"testing"

	"github.com/slipway-dev/slipway/internal/scaffold/internal/wiring"
)

// TestLogger: errors are logged as the file's author does it.
func TestLogger(t *testing.T) {
	const begins, main = "package main\n\nvar log = ctrl.Log.WithName(\"setup\")\n", "\nfunc main() {\n"
	fails := func(logger string) string {
		return "\tif err != nil {\n\t\t" + logger + ".Error(err, \"unable\", \"controller\", name)\n\t\tos.Exit(1)\n\t}\n"
	}
	for _, test := range []struct{ name, src, want string }{
		{"of another name", begins + main + fails("log") + fails("log") + "}\n", "log"},
		{"setupLog", begins + "\nvar setupLog = log\n" + main + fails("log") + fails("setupLog") + "}\n", "setupLog"},
		{"setupLog of another file", begins + main + fails("setupLog") + fails("setupLog") + fails("log") + "}\n", "setupLog"},
		{"setupLog inserted by another tool", begins + main + fails("log") + fails("log") + fails("setupLog") + "}\n", "log"},
		{"no end of the process", begins + main + "\tlog.Error(err, \"unable\")\n\treturn\n}\n", "setupLog"},
		{"not about the error", begins + main + "\tlog.Error(nil, \"unable\")\n\tos.Exit(1)\n}\n", "setupLog"},
		{"none", "package main\n", "setupLog"},
		{"not Go", "package", "setupLog"},
	} {
		if got := wiring.Logger([]byte(test.src)); got != test.want {
			t.Errorf("%s: got %s, want %s", test.name, got, test.want)
		}
	}
}
