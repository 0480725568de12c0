package program

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/report"
)

// goCommand is one run of the go command, whose lines on stderr are watched.
type goCommand struct {
	*product
	dir  string
	env  []string
	args []string
	// line is given each line and tells whether it was a message of progress;
	// others are kept for the error.
	line func(string) bool
}

// forHere has the go command build for this machine, in the module's own way, whatever the project at hand needs: another
// platform, a workspace, a vendor folder.
func forHere() []string {
	env := []string{"GOWORK=off", "GOOS=", "GOARCH="}
	if strings.Contains(os.Getenv("GOFLAGS"), "-mod=") {
		env = append(env, "GOFLAGS=")
	}
	return env
}

// killDelay is how long the go command may take to end its compilers after an
// interrupt before all of them are killed.
const killDelay = 2 * time.Second

// run runs the command. When ctx is done, it ends the command with everything
// that it started and returns ctx's error.
func (g goCommand) run(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, "go", g.args...)
	cmd.Dir = g.dir
	cmd.Env = append(append(os.Environ(), forHere()...), g.env...)
	ownGroup(cmd)
	cmd.Cancel = func() error { return interruptGroup(cmd) }
	cmd.WaitDelay = killDelay
	messages := &messages{line: g.line}
	cmd.Stderr = messages
	if err := cmd.Start(); err != nil {
		return err
	}
	err := cmd.Wait()
	killGroup(cmd)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return buildError(g.product, g.dir, g.args, messages.rest, err)
	}
	return nil
}

// messages takes what the go command writes, in pieces of any size, apart into lines. It
// is a writer so that [exec.Cmd] reads the pipe: a compiler that outlives an
// interrupt and holds the pipe must not be waited for.
type messages struct {
	line    func(string) bool
	partial []byte
	rest    []string // lines that did not tell progress
}

func (m *messages) Write(p []byte) (int, error) {
	m.partial = append(m.partial, p...)
	for {
		line, after, ended := bytes.Cut(m.partial, []byte("\n"))
		if !ended {
			return len(p), nil
		}
		m.partial = after
		if text := strings.TrimRight(string(line), "\r"); !m.line(text) && strings.TrimSpace(text) != "" {
			m.rest = append(m.rest, text)
		}
	}
}

// goOutput runs a go command for its standard output.
func goOutput(ctx context.Context, p *product, dir string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), forHere()...)
	out, err := cmd.Output()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	var lines []string
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		lines = strings.Split(strings.TrimSpace(string(exit.Stderr)), "\n")
	}
	if err != nil {
		return out, buildError(p, dir, args, lines, err)
	}
	return out, nil
}

// download gets the cluster module at version and returns its folder.
func download(ctx context.Context, p *product, version string) (dir string, err error) {
	out, err := goOutput(ctx, p, "", "mod", "download", "-json", p.module+"@"+version)
	var answer struct{ Dir, Error string }
	if json.Unmarshal(out, &answer) == nil && answer.Error != "" {
		return "", &report.Error{What: p.what + "'s sources cannot be downloaded", Where: p.module + "@" + version,
			Err: errors.New(answer.Error), Hint: "set SLIPWAY_SOURCE to a checkout of " + Module + ", or " + p.variable + " to a " + p.last() + " program"}
	}
	if err == nil && answer.Dir == "" {
		err = fmt.Errorf("go mod download told no folder for %s@%s", p.module, version)
	}
	return answer.Dir, err
}

// listPackages asks which packages the programs in dir consist of and which of
// them are yet to be compiled.
func listPackages(ctx context.Context, p *product, dir string, flags ...string) ([]pkg, error) {
	const format = "{{.ImportPath}}\t{{.Stale}}\t{{.Dir}}\t{{join .GoFiles \"/\"}}"
	out, err := goOutput(ctx, p, dir, slices.Concat([]string{"list", "-deps", "-f", format}, flags, p.mains())...)
	if err != nil {
		return nil, err
	}
	return parsePackages(p, string(out)), nil
}
