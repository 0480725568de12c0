package operation

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const projectFile = "domain: example.com\nlayout:\n- go.kubebuilder.io/v4\nprojectName: sample\nrepo: example.com/sample\nversion: \"3\"\n"

func TestRoots(t *testing.T) {
	described, module, neither := t.TempDir(), t.TempDir(), t.TempDir()
	write(t, described, "PROJECT", projectFile)
	write(t, described, "api/go.mod", "module example.com/sample/api\n")
	write(t, module, "go.mod", "module example.com/sample\n")
	write(t, module, "cmd/main.go", "package main\n")
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
			s := &Session{Dir: test.dir}
			root, err := s.ProjectRoot()
			checkRoot(t, "ProjectRoot", root, err, test.project)
			if root, err := s.projectRootOrNone(); err != nil || root != test.project {
				t.Errorf("projectRootOrNone = %q, %v; want %q", root, err, test.project)
			}
			root, has, err := s.moduleRoot()
			checkRoot(t, "moduleRoot", root, err, test.module)
			if has != test.hasProjectYet {
				t.Errorf("moduleRoot says that there is a project: %v", has)
			}
			root, err = s.module()
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
		if e := mistake(t, err); e.Next == "" && !strings.Contains(e.Hint, "by hand") {
			t.Errorf("%s does not say how to go on: %v", name, err)
		}
	}
}

// TestNeedAProject: operations on a project say so where there is none, before they do anything else.
func TestNeedAProject(t *testing.T) {
	for name, run := range map[string]func(*Session) error{
		"Generate":           func(s *Session) error { return s.Generate(context.Background(), Generation{}) },
		"CheckGenerated":     func(s *Session) error { return s.CheckGenerated(context.Background(), Generation{}) },
		"CompareDefinitions": func(s *Session) error { return s.CompareDefinitions(context.Background(), "main", Generation{}) },
		"WatchAndGenerate":   func(s *Session) error { return s.WatchAndGenerate(context.Background(), Generation{}) },
		"Install":            func(s *Session) error { return s.Install(context.Background(), Installation{}) },
		"Uninstall":          func(s *Session) error { return s.Uninstall(context.Background(), "", Removal{}) },
		"Deploy":             func(s *Session) error { return s.Deploy(context.Background(), Deployment{}) },
		"PrintDeployment": func(s *Session) error {
			return s.PrintDeployment(context.Background(), Deployment{})
		},
		"Undeploy":      func(s *Session) error { return s.Undeploy(context.Background(), "", Removal{}) },
		"Run":           func(s *Session) error { return s.Run(context.Background(), Run{Address: Loopback}) },
		"CreateAPI":     func(s *Session) error { return s.CreateAPI(context.Background(), API{}) },
		"CreateWebhook": func(s *Session) error { return s.CreateWebhook(context.Background(), Webhook{}) },
		"DeleteAPI":     func(s *Session) error { return s.DeleteAPI(context.Background(), Deletion{}) },
		"DeleteWebhook": func(s *Session) error { return s.DeleteWebhook(context.Background(), WebhookDeletion{}) },
		"Edit":          func(s *Session) error { return s.Edit(context.Background(), Edit{}) },
		"Helm":          func(s *Session) error { return s.Helm(context.Background(), Chart{Config: ""}) },
	} {
		t.Run(name, func(t *testing.T) {
			s, told := begin(t, t.TempDir())
			if err := mistake(t, run(s)); err.What != "no project in this folder" {
				t.Errorf("%v", err)
			}
			if len(told.all) > 0 {
				t.Errorf("it told %v first", told.all)
			}
			if left, err := os.ReadDir(s.Dir); err != nil || len(left) > 0 {
				t.Errorf("it left %v, %v", left, err)
			}
		})
	}
}

// TestNoProjectBesideCode: where code is, init would be refused, and what PROJECT needs is for its author to know.
func TestNoProjectBesideCode(t *testing.T) {
	s, _ := begin(t, t.TempDir())
	for name, text := range map[string]string{"go.mod": "module example.com/crew\n", "Makefile": "all:\n"} {
		if err := os.WriteFile(filepath.Join(s.Dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	_, err := s.ProjectRoot()
	if e := mistake(t, err); e.Next != "" || !strings.Contains(e.Hint, "repo: example.com/crew") {
		t.Errorf("%+v", e)
	}
}

func TestPathsFromHere(t *testing.T) {
	root := filepath.FromSlash("/projects/operator")
	s := &Session{Dir: filepath.Join(root, "api")}
	for given, want := range map[string]string{
		"":                    "",
		"api/v1/types.go":     "v1/types.go",
		"cmd/main.go":         "../cmd/main.go",
		"/elsewhere/types.go": "/elsewhere/types.go",
	} {
		if got := s.fromHere(root, filepath.FromSlash(given)); got != filepath.FromSlash(want) {
			t.Errorf("fromHere(%q) = %q, want %q", given, got, want)
		}
	}
	if got := s.absolute("crds"); got != filepath.Join(s.Dir, "crds") {
		t.Errorf("absolute(crds) = %q", got)
	}
	if got := s.absolute(root); got != root {
		t.Errorf("absolute(%q) = %q", root, got)
	}
}
