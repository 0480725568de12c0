package dev

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/slipway-dev/slipway/internal/process"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/safefs"
	"github.com/slipway-dev/slipway/internal/shellword"
)

// RunProgram runs a program that is no Go project's manager, such as an operator in another language, until it ends or
// ctx does. The cluster is that of o.Env; with o.Account the program is a ServiceAccount there.
func RunProgram(ctx context.Context, o Options, program string, args []string) error {
	if err := o.requireAccount(append([]string{program}, args...)); err != nil {
		return err
	}
	path := program
	if strings.ContainsRune(program, filepath.Separator) && !filepath.IsAbs(program) {
		path = filepath.Join(o.Dir, program)
	}
	if _, err := process.Command(path); err != nil {
		return o.unstartable(program, path, args, err)
	}
	s, err := Open(ctx, o, nil)
	if err != nil {
		return err
	}
	defer s.leave() // it serves no webhooks, so there is nothing else to close
	if err := s.enter(ctx); err != nil {
		return err
	}
	o.Env = append(o.Env, s.entrance.environment...)
	o.Handler.Handle(report.Note{Text: "running " + program + " against " + s.cluster.Server() + " until Ctrl-C"})
	start := time.Now()
	err = o.run(ctx, path, args...)
	if _, began := errors.AsType[*exec.ExitError](err); err != nil && !began && ctx.Err() == nil {
		return o.unstartable(program, path, args, err)
	}
	if err == nil && ctx.Err() == nil {
		o.Handler.Handle(report.Note{Text: program + " ended by itself after " + time.Since(start).Round(time.Millisecond).String() + ", without an error; an operator runs until it is stopped"})
	}
	return ended("the program failed", err)
}

// unstartable says why a program cannot be started.
func (o Options) unstartable(program, path string, args []string, err error) error {
	if refused, ok := errors.AsType[*report.Error](err); ok {
		return refused
	}
	e := &report.Error{What: "cannot start the program", Where: program, Err: err}
	switch info, unseen := os.Stat(filepath.Join(o.Dir, filepath.Base(path))); {
	case process.IsMissing(err) && path == filepath.Base(path): // it names no folder
		e.What, e.Where, e.Err = program+": not found on PATH", "", nil
		if unseen == nil && info.Mode().IsRegular() {
			e.Hint, e.Next = "did you mean ./"+program+", the file in this folder?", o.again(append([]string{"./" + program}, args...))
		}
	case errors.Is(err, fs.ErrPermission):
		e.Hint, e.Next = "the file is not executable", "chmod +x "+shellword.Quote(program)
	case errors.Is(err, syscall.ENOEXEC):
		e.Hint = "it is no program of this system; a script names its interpreter in the first line, such as #!/bin/sh"
	case errors.Is(err, fs.ErrNotExist):
		if line := interpreter(path); line != "" {
			e.What, e.Where, e.Err = "the interpreter of the program does not exist", program+":1", nil
			e.Hint = "its first line is #!" + line + ": install that program, or correct the line"
		}
	}
	return e
}

// again is the command line that runs a command, or a manager with arguments.
func (o Options) again(command []string) string {
	words := "slipway run"
	if o.As != "" {
		words += " --as " + shellword.Quote(o.As)
	}
	if len(command) > 0 {
		words += " --"
	}
	for _, word := range command {
		words += " " + shellword.Quote(word)
	}
	return words
}

// longestLine is how much of a first line the kernels of all systems look at, or less.
const longestLine = 256

// interpreter is what the first line of a file names to run it; "" for other files.
func interpreter(path string) string {
	text, err := safefs.ReadFile(path)
	line, _, _ := strings.Cut(string(text[:min(len(text), longestLine)]), "\n")
	rest, is := strings.CutPrefix(line, "#!")
	if err != nil || !is {
		return ""
	}
	return strings.TrimSpace(rest)
}
