// Package operation is what the operations of one invocation share: a session, with the project that it is in, and
// what it reports to. The operations themselves are in packages by subject: clusters, generation, images,
// delivery, projects, charts, suites and tools. They are sequences over the facades that report what happens
// as events. The command line runs one of them for each verb, and what strings verbs together calls the same ones:
//
//	session := &operation.Session{Dir: dir, Getenv: os.Getenv, Handler: handler}
//	applied, err := delivery.Deploy(ctx, session, delivery.Deployment{Image: "registry.example.com/operator:v1", Wait: true})
//
// An operation's input is a value of its own type, such as delivery.Deployment. Its reports go to the handler: at the
// end a [report.Result] with the text for people and the value for programs. What it has built, changed or found is
// also what it returns, for those who string operations together; with an error that is the zero value, unless the
// operation promises more. Its error is a [report.Error], or wraps one. It names flags of the command line, since
// users know the inputs by those.
//
// Operations know no flags, and ask no questions but by Session.Ask. They end no process, and read no environment but
// by Session.Getenv and, to find the user's folders, package os.
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

// A Session is what all operations of one invocation share.
type Session struct {
	Dir     string              // the process's working folder: a project is looked for here and above
	Getenv  func(string) string // the environment
	Handler report.Handler      // learns what happens
	Verbose bool                // whether to report more of what is done and why

	Stdin  io.Reader // for operations that are to read an archive or a description from it
	Stdout io.Writer // takes what is the result itself, such as a generated file
	Stderr io.Writer // of programs that are run

	Environ []string  // of programs that are run, as key=value
	Program string    // the file of slipway itself, for programs that call it again; "" where that is another program
	Output  io.Writer // standard output of programs that are run

	// Ask puts a question that is answered with yes or no; flag is the one that answers it for scripts. It is nil
	// when there is no one to ask.
	Ask func(ctx context.Context, question, flag string) (bool, error)
	// Fail shows an error that does not end the operation, such as that of one attempt of many. generation.Watch needs
	// it.
	Fail func(err error)
	// Collector decides when garbage is collected; nil leaves that as it is.
	Collector *collector.Collector

	Originals   *Originals          // keeps what generating replaces, while that follows from a change; else nil
	ModuleFiles []scaffold.Replaced // go.mod and go.sum before a module was fetched for a change

	folders map[string]*fileview.Folder // what projects are read through, by their folders

	noted bool // the user knows that the project is below the working folder
}

// Files are those of the project in root, which kustomize reads as facts are.
func (s *Session) Files(root string) kustomization.Files {
	code := s.Codebase(root)
	return kustomization.Files{Root: root, View: code.View(), Roles: roleFiles(root, code)}
}

// Build builds a kustomization, which takes seconds where definitions are large.
func (s *Session) Build(ctx context.Context, k kustomization.Kustomization) ([]*unstructured.Unstructured, error) {
	s.Handler.Handle(report.Step{Name: "building " + s.Relative(k.Folder)})
	return k.Build(ctx)
}

// roleFiles are the files with the roles that are generated from the project's code. What keeps them from being known
// is reported where files are generated.
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

// Note reports a text that is worth knowing and no fault.
func (s *Session) Note(text string) { s.Handler.Handle(report.Note{Text: text}) }

// UsageCode is the exit code of an operation that was asked for what cannot be: the mistake is in the inputs, not in
// what they are about.
const UsageCode = 2

// Folder has the files of the project in root, as they are now. One that has not changed since the session has read it
// is not read again.
func (s *Session) Folder(root string) *fileview.Folder {
	if s.folders == nil {
		s.folders = map[string]*fileview.Folder{}
	}
	if s.folders[root] == nil {
		s.folders[root] = fileview.Disk(root)
	}
	return s.folders[root].Renewed()
}

// Codebase has the facts about the project in root, as its files are now.
func (s *Session) Codebase(root string) *codebase.Codebase {
	return codebase.Read(s.Folder(root), s.Getenv)
}

// StateFolder is where slipway keeps what it has to remember for the user.
func StateFolder(s *Session) (string, error) {
	home, err := state.Locate(s.Getenv)
	return home.Dir, err
}
