package dockerfile_test

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-dev/slipway/internal/image/dockerfile"
)

// TestNothingIsRun: of what a Dockerfile gives the go command, nothing stays that has it run a program or use a file of
// somewhere else, wherever it is given, and each is told.
func TestNothingIsRun(t *testing.T) {
	for name, c := range map[string]struct {
		text    string
		flags   []string
		env     []string
		omitted []string // in the order in which they are told
	}{
		"ENV":           {"ENV GOFLAGS=-toolexec=./hack/x.sh\nRUN go build -o /m ./cmd", nil, nil, []string{"-toolexec=./hack/x.sh"}},
		"ARG":           {"ARG GOFLAGS=\"-tags=a -toolexec=./x.sh\"\nRUN go build -o /m ./cmd", []string{"-tags=a"}, nil, []string{"-toolexec=./x.sh"}},
		"RUN":           {"RUN GOFLAGS=-toolexec=./x.sh go build -o /m ./cmd", nil, nil, []string{"-toolexec=./x.sh"}},
		"env":           {"RUN env GOFLAGS=-modfile=/tmp/go.mod CC=./x go build -o /m ./cmd", nil, nil, []string{"-modfile=/tmp/go.mod", "CC=./x"}},
		"the line":      {"RUN go build -toolexec ./x.sh -overlay=/tmp/o -asmflags=-I/x -modfile /tmp/go.mod -o /m ./cmd", nil, nil, []string{"-toolexec=./x.sh", "-overlay=/tmp/o", "-asmflags=-I/x", "-modfile=/tmp/go.mod"}},
		"linker":        {"RUN go build -ldflags '-s -w -extld=./x -X main.v=1' -o /m ./cmd", []string{"-ldflags=-s -w -X main.v=1"}, nil, []string{"-ldflags=-extld=./x"}},
		"linker, words": {"RUN go build -ldflags '-extld ./x -w' -o /m ./cmd", []string{"-ldflags=-w"}, nil, []string{"-ldflags=-extld ./x"}},
		"linker, all":   {"RUN go build -ldflags='all=-s -X \"main.v=a b\" -buildid= -linkmode=external' -o /m ./cmd", []string{"-ldflags=all=-s -X 'main.v=a b' -buildid="}, nil, []string{"-ldflags=-linkmode=external"}},
		"linker's file": {"RUN go build -ldflags='-X @x -s @y' -o /m ./cmd", []string{"-ldflags=-s"}, nil, []string{"-ldflags=-X @x", "-ldflags=@y"}},
		"compiler":      {"RUN go build -gcflags='all=-N -l -o=/x' -o /m ./cmd", []string{"-gcflags=all=-N -l"}, nil, []string{"-gcflags=all=-N -l -o=/x"}},
		"a value":       {"RUN go build -mod=./x -tags='a -b' -buildvcs=maybe -pgo=/x -o /m ./cmd", nil, nil, []string{"-mod=./x", "-tags=a -b", "-buildvcs=maybe", "-pgo=/x"}},
		"unknown":       {"RUN go build -race -o /m ./cmd", nil, nil, []string{"-race"}},
		"variables": {"ENV GOENV=x GOROOT=x GOTOOLCHAIN=x GOCACHEPROG=x GOPROXY=x GOAMD64=v3 GOEXPERIMENT=../x GOFIPS140=/x\nRUN go build -o /m ./cmd", nil, nil,
			[]string{"GOEXPERIMENT=../x", "GOFIPS140=/x", "GOAMD64=v3", "GOCACHEPROG=x", "GOENV=x", "GOPROXY=x", "GOROOT=x", "GOTOOLCHAIN=x"}},
		"harmless": {"ENV CGO_ENABLED=0 GOOS=linux GOARCH=arm64 GO111MODULE=on GOPATH=/go GOEXPERIMENT=jsonv2,synctest GOFIPS140=v1.0.0 GOFLAGS=-mod=vendor\nRUN go build -a -v -trimpath -installsuffix cgo -tags netgo,osusergo -mod=readonly -buildvcs=false -o /m ./cmd",
			[]string{"-mod=vendor", "-tags=netgo,osusergo", "-mod=readonly", "-buildvcs=false"}, []string{"GOEXPERIMENT=jsonv2,synctest", "GOFIPS140=v1.0.0"}, nil},
		"a go.mod of the project": {"WORKDIR /w\nCOPY . .\nWORKDIR /w/deep\nRUN go build -modfile=../alt.mod -o /m /w/cmd", []string{"-modfile=alt.mod"}, nil, nil},
		"and one above it":        {"WORKDIR /w\nCOPY . .\nRUN go build -modfile=../alt.mod -o /m ./cmd", nil, nil, []string{"-modfile=../alt.mod"}},
		"as far as is known":      {"RUN go build -modfile=../alt.mod -o /m ./cmd", nil, nil, []string{"-modfile=../alt.mod"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := read(t, "FROM golang AS b\n"+c.text+"\nFROM scratch\nCOPY --from=b /m /m\n", dockerfile.Options{})
			var omitted []string
			for _, l := range r.Left {
				omitted = append(omitted, l.Text)
				if l.Why == "" || l.Number < 2 {
					t.Errorf("%+v", l)
				}
			}
			build := program(r)
			if filepath.Base(build.Package) != "cmd" {
				t.Errorf("the build is %+v", build)
			}
			for what, diff := range map[string]string{"flags": cmp.Diff(c.flags, build.Flags), "variables": cmp.Diff(c.env, build.Env), "omitted": cmp.Diff(shown(c.omitted), omitted)} {
				if diff != "" {
					t.Error(what, diff)
				}
			}
		})
	}
}

// shown are texts as messages have them.
func shown(texts []string) []string {
	for i, text := range texts {
		if len(text) > 60 {
			texts[i] = text[:60] + "…"
		}
	}
	return texts
}

// harmless wants a build to have only flags and variables that are known.
func harmless(t *testing.T, b dockerfile.Build) {
	t.Helper()
	for _, flag := range b.Flags {
		name, value, _ := strings.Cut(strings.TrimPrefix(flag, "-"), "=")
		if !slices.Contains([]string{"ldflags", "gcflags", "tags", "mod", "modfile", "buildvcs", "pgo", "compiler", "buildmode"}, name) {
			t.Errorf("flag %q", flag)
		}
		switch {
		case name == "ldflags" && !linker.MatchString(value), name == "gcflags" && !compiler.MatchString(value), name == "modfile" && !filepath.IsLocal(value):
			t.Errorf("flag %q", flag)
		}
	}
	for _, v := range b.Env {
		if !strings.HasPrefix(v, "GOEXPERIMENT=") && !strings.HasPrefix(v, "GOFIPS140=") {
			t.Errorf("variable %q", v)
		}
	}
}

var (
	linker   = regexp.MustCompile(`^([\w./~*-]+=)?(((-?-[sw](=\w+)?|'?-buildid=[^@]?.*|'?-?-X=[\pL\pN_./~-]+=.*|-?-X '?"?[\pL\pN_./~-]+=.*)) ?)*$`)
	compiler = regexp.MustCompile(`^([\w./~*-]+=)?((-[NlB]|-dwarf=(true|false)) ?)*$`)
)

// TestWhyVariablesAreLeftOut: what is said of a variable fits it, since many Dockerfiles of operators set a proxy.
func TestWhyVariablesAreLeftOut(t *testing.T) {
	for variable, why := range map[string]string{
		"GOPROXY=https://goproxy.example": "with your own settings", "GOPRIVATE=example.com/*": "with your own settings",
		"GOTOOLCHAIN=local": "with your own settings", "GOAMD64=v3": "use --platform instead, as in linux/amd64/v3", "GOCACHEPROG=./x": "run a program",
	} {
		r := read(t, "FROM golang AS b\nENV "+variable+"\nRUN go build -o /m ./cmd\nFROM scratch\nCOPY --from=b /m /m\n", dockerfile.Options{})
		if len(r.Left) != 1 || r.Left[0].Text != variable || !strings.Contains(r.Left[0].Why, why) {
			t.Errorf("%s: want %q, got %+v", variable, why, r.Left)
		}
	}
}

// TestUnknownValue: a program works without the value of a -X, so that one flag is left out, with a warning that says
// which argument sets it. Other flags that are not known are what the image lacks.
func TestUnknownValue(t *testing.T) {
	const makefile = `GIT_TAG ?= $(shell git describe)
VERSION := v$(GIT_TAG)
pkg = example.com/x/version
LD_FLAGS += -X '$(pkg).Tag=$(GIT_TAG)'
LD_FLAGS += -X '$(pkg).Commit=$(shell git rev-parse HEAD)'
ifdef CI
KIND = ci
endif
MODE = $(shell cat mode)
build:
	$(ENVS) go build -ldflags="-s $(LD_FLAGS) -w" -o /m ./cmd
version:
	go build -ldflags="-X main.v=$(VERSION) -X=main.k=$(KIND)" -o /m ./cmd
mode:
	go build -ldflags="-s -linkmode=$(MODE)" -tags=$(MODE) -o /m ./cmd
`
	const tag, commit = "Makefile:11 true -X example.com/x/version.Tag=…: slipway does not know the value of GIT_TAG; --build-arg GIT_TAG=… sets it",
		"Makefile:11 true -X example.com/x/version.Commit=…: slipway does not run commands for their output"
	files := fstest.MapFS{"Makefile": {Data: []byte(makefile)}, "go.mod": {Data: []byte("module x\n")}}
	for name, c := range map[string]struct {
		run       string
		arguments map[string]string
		flags     []string
		left      []string
	}{
		"none":                {"make build", nil, []string{"-ldflags=-s -w"}, []string{tag, commit}},
		"one":                 {"make build", map[string]string{"GIT_TAG": "v1"}, []string{"-ldflags=-s -X example.com/x/version.Tag=v1 -w"}, []string{commit}},
		"the line's own wins": {"make build GIT_TAG=v2", map[string]string{"GIT_TAG": "v1"}, []string{"-ldflags=-s -X example.com/x/version.Tag=v2 -w"}, []string{commit}},
		"through another one": {"make version", nil, nil, []string{"Makefile:13 true -X main.v=v…: slipway does not know the value of GIT_TAG; --build-arg GIT_TAG=… sets it",
			"Makefile:13 true -X=main.k=…: slipway does not know the value of KIND; --build-arg KIND=… sets it"}},
		"all of them": {"make version", map[string]string{"VERSION": "1", "KIND": "b"}, []string{"-ldflags=-X main.v=1 -X=main.k=b"}, nil},
		"others": {"make mode", nil, []string{"-ldflags=-s"}, []string{"Makefile:15 false -ldflags=-linkmode=…: slipway does not run commands for their output",
			"Makefile:15 false -tags=…: slipway does not run commands for their output"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := read(t, "FROM golang AS b\nWORKDIR /w\nCOPY . .\nRUN "+c.run+"\nFROM scratch\nCOPY --from=b /m /m\n", dockerfile.Options{Files: files, Arguments: c.arguments})
			var left []string
			for _, l := range r.Left {
				left = append(left, fmt.Sprintf("%s:%d %t %s: %s", l.File, l.Number, l.Harmless, l.Text, l.Why))
			}
			if diff := cmp.Diff(c.left, left) + cmp.Diff(c.flags, program(r).Flags); diff != "" || program(r).Package != "cmd" {
				t.Errorf("%+v\n%s", program(r), diff)
			}
		})
	}
}
