package codebase_test

import (
	"slices"
	"testing"

	"github.com/slipway-dev/slipway/internal/codebase"
	"github.com/slipway-dev/slipway/internal/fileview"
)

// TestManagers: the package that is built or started is the manager's; else cmd comes first, then the project's own
// folder, then the folders of cmd. What build tags leave out, tests, and other packages do not count.
func TestManagers(t *testing.T) {
	const program, tagged, tag = "package main\n", "//go:build never\n\npackage main\n", "//go:build prod\n\npackage main\n"
	const image = "FROM golang AS b\nWORKDIR /s\nCOPY . .\nRUN go build -tags prod -o /m "
	const rest = "\nFROM scratch\nCOPY --from=b /m /m\nENTRYPOINT [\"/m\"]\n"
	for _, test := range []struct {
		name      string
		files     map[string]string
		want      []string
		arguments []string // of the first
	}{
		{"today", map[string]string{"cmd/main.go": program, "main.go": program, "cmd/a/main.go": program}, []string{"cmd"}, nil},
		{"older", map[string]string{"start.go": program, "cmd/a/main.go": program}, []string{"."}, nil},
		{"below", map[string]string{"vendor.go": tagged, "cmd/a.v1/run.go": program, "cmd/b/b.go": "package b\n"}, []string{"cmd/a.v1"}, nil},
		{"several", map[string]string{"cmd/a/main.go": program, "cmd/b/main.go": program}, []string{"cmd/a", "cmd/b"}, nil},
		{"none", map[string]string{"main_test.go": program, "cmd/a/main_plan9.go": program}, nil, nil},
		{"built", map[string]string{"cmd/main.go": program, "cmd/a/main.go": tag, "Dockerfile": image + "cmd/a/main.go" + rest}, []string{"cmd/a"}, nil},
		{"built by its path", map[string]string{"cmd/main.go": program, "tool/x.go": program, "go.mod": "module x.org/op\n", "Dockerfile": image + "x.org/op/tool" + rest}, []string{"tool"}, nil},
		{"built with a subcommand", map[string]string{"main.go": program, "Dockerfile": image + "." + rest + "CMD [\"start\", \"--certs=/certs\"]\n"}, []string{"."}, []string{"start"}},
		{"built by make", map[string]string{"cmd/main.go": program, "tool/x.go": program, "go.mod": "module x.org/op\n", "Makefile": "all:\n\tgo build -o bin/m ./tool\n",
			"Dockerfile": "FROM go AS b\nCOPY . /s\nRUN cd /s && make\nFROM scratch\nCOPY --from=b /s/bin/m /m\n"}, []string{"tool"}, nil},
		{"built with C code", map[string]string{"cmd/main.go": program, "tool/x.go": program, "Dockerfile": "FROM go AS b\nCOPY . /s\nRUN cd /s && CGO_ENABLED=1 go build -o /m ./tool" + rest}, []string{"tool"}, nil},
		{"built elsewhere", map[string]string{"cmd/main.go": program, "Dockerfile": image + "./gone" + rest}, []string{"cmd"}, nil},
		{"started", map[string]string{"cmd/a/main.go": program, "cmd/b/main.go": program, "Makefile": "run: generate\n\tgo run ./cmd/b/main.go start --debug\n"}, []string{"cmd/b"}, []string{"start", "--debug"}},
		{"started with what is not known", map[string]string{"main.go": program, "Makefile": "run:\n\tgo run ./main.go $(shell x)\n"}, []string{"."}, nil},
		{"another is started", map[string]string{"cmd/a/main.go": program, "cmd/b/main.go": program, "Makefile": "run:\n\tgo run ./cmd/b start\n", "Dockerfile": image + "./cmd/a" + rest}, []string{"cmd/a"}, nil},
		{"outside", map[string]string{"main.go": program, "Makefile": "run:\n\tgo run ../x start\n"}, []string{"."}, nil},
	} {
		root := t.TempDir()
		for name, text := range test.files {
			write(t, root, name, text)
		}
		found, err := codebase.Read(fileview.Disk(root), func(string) string { return "" }).Managers()
		var got, arguments []string
		for i, m := range found {
			if got = append(got, m.Package); i == 0 {
				arguments = m.Arguments
			}
		}
		if err != nil || !slices.Equal(got, test.want) || !slices.Equal(arguments, test.arguments) {
			t.Errorf("%s: %+v, %v", test.name, found, err)
		}
	}
}

// TestChoose: of several programs the one that is named is the manager, and a folder without one is refused.
func TestChoose(t *testing.T) {
	root := t.TempDir()
	write(t, root, "go.mod", "module example.com/op\n")
	for _, pkg := range []string{"cmd/a", "cmd/b", "tools"} {
		write(t, root, pkg+"/main.go", "package main\n\nfunc main() {}\n")
	}
	for chosen, want := range map[string][]string{"": {"cmd/a", "cmd/b"}, "./cmd/b": {"cmd/b"}, "example.com/op/tools": {"tools"}, "cmd": nil, "../x": nil} {
		code := codebase.Read(fileview.Disk(root), func(string) string { return "" })
		err := code.Choose(chosen)
		managers, _ := code.As(code.View()).Managers()
		var got []string
		for _, m := range managers {
			got = append(got, m.Package)
		}
		if (err != nil) != (want == nil) || err == nil && !slices.Equal(got, want) {
			t.Errorf("%q: got %v, %v", chosen, got, err)
		}
	}
}
