package operation

import (
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/mod/modfile"

	"github.com/slipway-dev/slipway/internal/finite"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold"
	"github.com/slipway-dev/slipway/internal/shellword"
	"github.com/slipway-dev/slipway/project"
)

// noProject is the refusal of a folder without a project. One that has code already is not for init, which begins in an
// empty one.
func (s *Session) noProject() error {
	e := &report.Error{
		What:  "no project in this folder",
		Where: s.Dir,
		Hint:  "a file named " + project.FileName + " was expected here or in a folder above",
		Next:  "slipway init --domain example.com --repo example.com/operator",
	}
	if module := s.codeWithout(); module != "" {
		return describeCode(e, s.Dir, module)
	}
	return e
}

// describeCode has a refusal advise the description of the code that a folder has.
func describeCode(e *report.Error, dir, module string) error {
	lines, known, err := scaffold.ProposeProject(dir, module)
	if err != nil {
		return err
	}
	e.Hint += "; verbs that write no code work without one. If the folders are those of kubebuilder's layout, write it as below"
	if known {
		e.Hint += ", with the domain of the code's API groups"
	} else {
		e.Hint += ", with your domain"
	}
	e.Hint += ", and run the command again"
	e.Next = "printf '%s\\n'"
	for _, line := range lines {
		e.Next += " " + shellword.Quote(line)
	}
	e.Next += " > " + project.FileName
	return e
}

// codeWithout is the path of the module in the working folder, if that has more than go.mod.
func (s *Session) codeWithout() string {
	more := slices.ContainsFunc([]string{"Makefile", "main.go", "cmd", "pkg", "api", "apis"}, func(name string) bool {
		_, err := os.Lstat(filepath.Join(s.Dir, name))
		return err == nil
	})
	content, err := finite.ReadFile(filepath.Join(s.Dir, "go.mod"))
	if err != nil || !more {
		return ""
	}
	return modfile.ModulePath(content)
}
