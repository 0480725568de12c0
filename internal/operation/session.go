// Package operation is what can be done to a project, a cluster or an image: sequences over the facades that report
// what happens as events. The command line runs one of them for each verb, and what strings verbs together calls
// the same ones:
//
//	session := &operation.Session{Dir: dir, Getenv: os.Getenv, Handler: handler}
//	err := session.Deploy(ctx, operation.Deployment{Image: "registry.example.com/operator:v1", Wait: true})
//
// An operation's input is a value of its own type, such as [Deployment]. Its reports go to the handler: at the end a
// [report.Result] with the text for people and the value for programs. Its error is a [report.Error], or wraps one. It
// names flags of the command line, since users know the inputs by those.
//
// The package knows no flags, and asks no questions but by [Session.Ask]. It ends no process, and reads no
// environment but by [Session.Getenv] and, to find the user's folders, package os.
package operation

import (
	"context"
	"io"
	"path/filepath"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-dev/slipway/internal/clusterctl"
	"github.com/slipway-dev/slipway/internal/codebase"
	"github.com/slipway-dev/slipway/internal/collector"
	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/image"
	"github.com/slipway-dev/slipway/internal/kustomization"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold"
)

// A Session is what all operations of one invocation share. Its methods are the operations.
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
	// Fail shows an error that does not end the operation, such as that of one attempt of many. WatchAndGenerate needs
	// it.
	Fail func(err error)
	// Collector decides when garbage is collected; nil leaves that as it is.
	Collector *collector.Collector

	replaced *replacedFiles      // notes what generating replaces, while that follows from a change; else nil
	fetched  []scaffold.Replaced // the module files before a module was fetched for a change

	folders map[string]*fileview.Folder // what projects are read through, by their folders

	noted bool // the user knows that the project is below the working folder
}

// files are those of the project in root, which kustomize reads as facts are.
func (s *Session) files(root string) kustomization.Files {
	code := s.codebase(root)
	return kustomization.Files{Root: root, View: code.View(), Roles: roleFiles(root, code)}
}

// build builds a kustomization, which takes seconds where definitions are large.
func (s *Session) build(ctx context.Context, k kustomization.Kustomization) ([]*unstructured.Unstructured, error) {
	s.Handler.Handle(report.Step{Name: "building " + s.relative(k.Folder)})
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

// note reports a text that is worth knowing and no fault.
func (s *Session) note(text string) { s.Handler.Handle(report.Note{Text: text}) }

// mistaken is the exit code of an operation that was asked for what cannot be.
const mistaken = 2

// clusters is the facade of embedded clusters.
func (s *Session) clusters() *clusterctl.Control { return clusterctl.New(s.Getenv, s.Handler) }

// images is the facade of images.
func (s *Session) images() *image.Images { return image.New(s.Getenv, s.Handler) }

// folder has the files of the project in root, as they are now. One that has not changed since the session has read it
// is not read again.
func (s *Session) folder(root string) *fileview.Folder {
	if s.folders == nil {
		s.folders = map[string]*fileview.Folder{}
	}
	if s.folders[root] == nil {
		s.folders[root] = fileview.Disk(root)
	}
	return s.folders[root].Renewed()
}

// codebase has the facts about the project in root, as its files are now.
func (s *Session) codebase(root string) *codebase.Codebase {
	return codebase.Read(s.folder(root), s.Getenv)
}
