package compile

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/image/dockerfile"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/shellword"
)

// withoutGo is the image of a folder without a Go module: what its Dockerfile copies, on top of the image that it
// names. Whatever needs a command is refused.
func (m Manager) withoutGo() (Manager, error) {
	if _, err := os.Stat(filepath.Join(m.Dir, FileName)); err != nil && m.from.Dockerfile == "" {
		return m, &report.Error{Class: report.BadProject, What: "there is no Go module in this folder", Where: m.Dir, Hint: "expected a file go.mod here, or a Dockerfile"}
	}
	m, err := m.On(nil, "/")
	if err != nil {
		return m, err
	}
	if i := slices.IndexFunc(m.Recipe.Left, func(l dockerfile.Line) bool { return l.Why == dockerfile.NoCommands }); i >= 0 && !m.from.AllowIncomplete {
		line := m.Recipe.Left[i]
		_, tag, _ := strings.Cut(m.from.Command, " build ")
		return m, &report.Error{Class: report.BadProject, What: dockerfile.NoCommands, Where: fmt.Sprintf("%s:%d: %s", line.File, line.Number, line.Text),
			Hint: "begin with an image that has what the commands install, or keep it in the project and COPY it; a container engine builds the image as it is",
			Next: "docker build " + tag + " " + shellword.Quote(".")}
	}
	if _, lacks := m.Left(true); len(lacks) > 0 && !m.from.AllowIncomplete {
		return m, m.incomplete(m.from, lacks)
	}
	return m, nil
}

// On is the manager with its Dockerfile read anew: the image that the Dockerfile begins with has variables and a
// working folder.
func (m Manager) On(env []string, workdir string) (Manager, error) {
	m.on = &dockerfile.Image{Env: env, Workdir: workdir}
	return m, m.read(fileview.Disk(m.Dir), m.from)
}
