package gocommand

import (
	"bytes"
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// Toolchain names the Go that the go command on PATH compiles with, as far as that can be reported without running it:
// its version, and the user's choice in GOTOOLCHAIN. Without a go command it is the Go that this process was compiled
// with.
func Toolchain() string {
	program, err := exec.LookPath("go")
	if err != nil {
		return runtime.Version()
	}
	if real, err := filepath.EvalSymlinks(program); err == nil {
		program = real
	}
	version := runtime.Version() // of a script that stands for the go command nothing is known
	if text, err := os.ReadFile(filepath.Join(filepath.Dir(filepath.Dir(program)), "VERSION")); err == nil {
		line, _, _ := bytes.Cut(text, []byte("\n"))
		version = string(bytes.TrimSpace(line))
	}
	switch chosen := cmp.Or(os.Getenv("GOTOOLCHAIN"), written("GOTOOLCHAIN")); chosen {
	case "", "auto", "local", "path":
		return version
	default:
		return version + " " + chosen
	}
}

// written is a setting that go env -w has written.
func written(name string) string {
	for line := range strings.Lines(string(Written())) {
		if value, ok := strings.CutPrefix(strings.TrimSpace(line), name+"="); ok {
			return value
		}
	}
	return ""
}

// Written are the settings that go env -w has written, as the file has them; none where GOENV is "off".
func Written() []byte {
	file := os.Getenv("GOENV")
	if file == "" {
		dir, err := os.UserConfigDir()
		if err != nil {
			return nil
		}
		file = filepath.Join(dir, "go", "env")
	}
	text, _ := os.ReadFile(file) // most users have none
	return text
}
