package operation_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/operation/charts"
	"github.com/slipway-dev/slipway/internal/operation/delivery"
	"github.com/slipway-dev/slipway/internal/operation/devloop"
	"github.com/slipway-dev/slipway/internal/operation/generation"
	"github.com/slipway-dev/slipway/internal/operation/operationtest"
	"github.com/slipway-dev/slipway/internal/operation/projects"
)

func TestRoots(t *testing.T) {
	described, module, neither := t.TempDir(), t.TempDir(), t.TempDir()
	operationtest.Write(t, described, "PROJECT", operationtest.ProjectFile)
	operationtest.Write(t, described, "api/go.mod", "module example.com/sample/api\n")
	operationtest.Write(t, module, "go.mod", "module example.com/sample\n")
	operationtest.Write(t, module, "cmd/main.go", "package main\n")
	for _, test := range []struct {
		name, dir     string
		project       string // what ProjectRoot returns; empty for its error
		module        string // what moduleRoot returns; empty for its error
		build         string // what module returns; empty for its error
		hasProjectYet bool
	}{
		{"project", described, described, described, described, true},
		{"below a project", filepath.Join(described, "api"), described, described, described, true},
		{"module", module, "", module, module, false},
		{"below a module", filepath.Join(module, "cmd"), "", module, "", false},
		{"neither", neither, "", "", "", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := &operation.Session{Dir: test.dir}
			root, err := s.ProjectRoot()
			checkRoot(t, "ProjectRoot", root, err, test.project)
			if root, err := operation.ProjectRootOrNone(s); err != nil || root != test.project {
				t.Errorf("projectRootOrNone = %q, %v; want %q", root, err, test.project)
			}
			root, has, err := operation.ModuleRoot(s)
			checkRoot(t, "moduleRoot", root, err, test.module)
			if has != test.hasProjectYet {
				t.Errorf("moduleRoot says that there is a project: %v", has)
			}
			root, err = operation.Module(s)
			checkRoot(t, "module", root, err, test.build)
		})
	}
}

// checkRoot compares a root with the one that is wanted; empty for an error that says how to go on.
func checkRoot(t *testing.T, name, got string, err error, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s = %q, %v; want %q", name, got, err, want)
	}
	if want == "" {
		if e := operationtest.Mistake(t, err); e.Next == "" && !strings.Contains(e.Hint, "by hand") {
			t.Errorf("%s does not say how to go on: %v", name, err)
		}
	}
}

// TestNeedAProject: operations on a project say so where there is none, before they do anything else.
func TestNeedAProject(t *testing.T) {
	for name, run := range map[string]func(*operation.Session) error{
		"Generate": func(s *operation.Session) error {
			return operationtest.Err(generation.Generate(context.Background(), s, generation.Generation{}))
		},
		"Check": func(s *operation.Session) error {
			return operationtest.Err(generation.Check(context.Background(), s, generation.Generation{}))
		},
		"CompareDefinitions": func(s *operation.Session) error {
			return operationtest.Err(generation.CompareDefinitions(context.Background(), s, "main", generation.Generation{}))
		},
		"Watch": func(s *operation.Session) error {
			return generation.Watch(context.Background(), s, generation.Generation{})
		},
		"Install": func(s *operation.Session) error {
			return operationtest.Err(delivery.Install(context.Background(), s, delivery.Installation{}))
		},
		"Uninstall": func(s *operation.Session) error {
			return operationtest.Err(delivery.Uninstall(context.Background(), s, "", delivery.Removal{}))
		},
		"Deploy": func(s *operation.Session) error {
			return operationtest.Err(delivery.Deploy(context.Background(), s, delivery.Deployment{}))
		},
		"PrintDeployment": func(s *operation.Session) error {
			return operationtest.Err(delivery.PrintDeployment(context.Background(), s, delivery.Deployment{}))
		},
		"Undeploy": func(s *operation.Session) error {
			return operationtest.Err(delivery.Undeploy(context.Background(), s, "", delivery.Removal{}))
		},
		"Run": func(s *operation.Session) error {
			return devloop.Start(context.Background(), s, devloop.Manager{Address: devloop.Loopback})
		},
		"CreateAPI": func(s *operation.Session) error {
			return operationtest.Err(projects.CreateAPI(context.Background(), s, projects.API{}))
		},
		"CreateWebhook": func(s *operation.Session) error {
			return operationtest.Err(projects.CreateWebhook(context.Background(), s, projects.Webhook{}))
		},
		"DeleteAPI": func(s *operation.Session) error {
			return operationtest.Err(projects.DeleteAPI(context.Background(), s, projects.Deletion{}))
		},
		"DeleteWebhook": func(s *operation.Session) error {
			return operationtest.Err(projects.DeleteWebhook(context.Background(), s, projects.WebhookDeletion{}))
		},
		"Edit": func(s *operation.Session) error {
			return operationtest.Err(projects.EditProject(context.Background(), s, projects.Edit{}))
		},
		"Helm": func(s *operation.Session) error {
			return operationtest.Err(charts.Helm(context.Background(), s, charts.Chart{Config: ""}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, told := operationtest.Begin(t, t.TempDir())
			if err := operationtest.Mistake(t, run(s)); err.What != "no project in this folder" {
				t.Errorf("%v", err)
			}
			if len(told.All) > 0 {
				t.Errorf("it told %v first", told.All)
			}
			if left, err := os.ReadDir(s.Dir); err != nil || len(left) > 0 {
				t.Errorf("it left %v, %v", left, err)
			}
		})
	}
}

// TestNoProjectBesideCode: where code is, init would be refused, and what PROJECT needs is for its author to know.
func TestNoProjectBesideCode(t *testing.T) {
	s, _ := operationtest.Begin(t, t.TempDir())
	for name, text := range map[string]string{"go.mod": "module example.com/crew\n", "Makefile": "all:\n"} {
		if err := os.WriteFile(filepath.Join(s.Dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	_, err := s.ProjectRoot()
	if e := operationtest.Mistake(t, err); e.Next != "" || !strings.Contains(e.Hint, "repo: example.com/crew") {
		t.Errorf("%+v", e)
	}
}

func TestPathsFromHere(t *testing.T) {
	root := filepath.FromSlash("/projects/operator")
	s := &operation.Session{Dir: filepath.Join(root, "api")}
	for given, want := range map[string]string{
		"":                    "",
		"api/v1/types.go":     "v1/types.go",
		"cmd/main.go":         "../cmd/main.go",
		"/elsewhere/types.go": "/elsewhere/types.go",
	} {
		if got := s.FromHere(root, filepath.FromSlash(given)); got != filepath.FromSlash(want) {
			t.Errorf("fromHere(%q) = %q, want %q", given, got, want)
		}
	}
	if got := s.Absolute("crds"); got != filepath.Join(s.Dir, "crds") {
		t.Errorf("absolute(crds) = %q", got)
	}
	if got := s.Absolute(root); got != root {
		t.Errorf("absolute(%q) = %q", root, got)
	}
}
