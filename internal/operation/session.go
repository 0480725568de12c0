// Package operation holds the session that all operations of one invocation share, and how they find the project. The
// operations are in packages by subject: clusters, generation, images, delivery, projects, charts, suites and tools.
// Each is a sequence of calls to the facades that reports events. The command line runs one operation for each verb.
// Go programs can combine them in the same way:
//
//	session := &operation.Session{Dir: dir, Getenv: os.Getenv, Handler: handler}
//	applied, err := delivery.Deploy(ctx, session, delivery.Deployment{Image: "registry.example.com/operator:v1", Wait: true})
//
// The input of an operation is a value of its own type, such as delivery.Deployment. The handler receives its events,
// and at the end a [report.Result] with a text for the terminal and a value for JSON. An operation also returns what it
// built, changed or found. With an error it returns the zero value, unless its documentation promises more. The error
// is or wraps a [report.Error], whose texts name command-line flags.
//
// Operations parse no flags, prompt only through Session.Ask, and never end the process. They read the environment
// through Session.Getenv; only the search for the user's folders uses package os.
package operation

import (
	"context"
	"io"
	"path/filepath"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-dev/slipway/internal/clusterctl/state"
	"github.com/slipway-dev/slipway/internal/codebase"
	"github.com/slipway-dev/slipway/internal/collector"
	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/kustomization"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold"
)

// A Session is what all operations of one invocation share. It is not safe for concurrent use.
type Session struct {
	Dir     string              // working folder, where the search for a project starts
	Getenv  func(string) string // reads the environment
	Handler report.Handler      // receives all reports
	Verbose bool                // report more details

	Stdin  io.Reader // for operations that read an archive or a description
	Stdout io.Writer // for output that is itself the result, such as a generated file
	Stderr io.Writer // of child processes

	Environ []string  // environment of child processes, as key=value
	Program string    // path of slipway, for child processes that call it; "" if another program runs
	Output  io.Writer // standard output of child processes

	// Ask asks a yes-or-no question. Flag is the one by which scripts answer it. Ask is nil without a terminal.
	Ask func(ctx context.Context, question, flag string) (bool, error)
	// Fail shows an error that does not end the operation. generation.Watch needs it.
	Fail func(err error)
	// Collector controls garbage collection; nil leaves Go's defaults.
	Collector *collector.Collector

	Originals   *Originals          // what generating replaces, if it follows a change; else nil
	ModuleFiles []scaffold.Replaced // go.mod and go.sum before a change fetched a module

	folders map[string]*fileview.Folder // views of projects, by root

	noted bool // NoteNestedProject has reported
}

// Files returns the project in root for kustomize, through the same view as its facts.
func (s *Session) Files(root string) kustomization.Files {
	code := s.Codebase(root)
	return kustomization.Files{Root: root, View: code.View(), Roles: roleFiles(root, code)}
}

// Build builds a kustomization. It reports a step first, since large CRDs take seconds.
func (s *Session) Build(ctx context.Context, k kustomization.Kustomization) ([]*unstructured.Unstructured, error) {
	s.Handler.Handle(report.Step{Name: "building " + s.Relative(k.Folder)})
	return k.Build(ctx)
}

// roleFiles returns the files with generated roles, as absolute paths. It returns nil on an error, which generating
// reports.
func roleFiles(root string, code *codebase.Codebase) (files []string) {
	made, err := code.Generation()
	if err != nil {
		return nil
	}
	for _, file := range made.RoleFiles() {
		files = append(files, filepath.Join(root, filepath.FromSlash(file)))
	}
	return files
}

// Note reports a text that is not a problem.
func (s *Session) Note(text string) { s.Handler.Handle(report.Note{Text: text}) }

// Folder returns a view of the files of the project in root as they are now. Files that have not changed since the
// session read them are not read again.
func (s *Session) Folder(root string) *fileview.Folder {
	if s.folders == nil {
		s.folders = map[string]*fileview.Folder{}
	}
	if s.folders[root] == nil {
		s.folders[root] = fileview.Disk(root)
	}
	return s.folders[root].Renewed()
}

// Codebase returns the facts about the project in root as its files are now.
func (s *Session) Codebase(root string) *codebase.Codebase {
	return codebase.Read(s.Folder(root), s.Getenv)
}

// Apart returns a session like s for another goroutine, with views of its own.
func Apart(s *Session) *Session {
	apart := *s
	apart.folders = nil
	return &apart
}

// StateFolder returns the user's folder for what slipway has to remember.
func StateFolder(s *Session) (string, error) {
	home, err := state.Locate(s.Getenv)
	return home.Dir, err
}
