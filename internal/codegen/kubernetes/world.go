package kubernetes

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"

	"github.com/slipway-dev/slipway/internal/codegen/wire"
)

// worldFile is the variable that has the program answer for the go command, and names the file with the packages to
// answer with. The parser of the generators runs such a program in the place of go list: see
// golang.org/x/tools/go/packages, "The driver protocol".
const (
	worldFile = "SLIPWAY_CODEGEN_WORLD"
	driver    = "GOPACKAGESDRIVER"
)

// description is a package as the protocol has it.
type description struct {
	ID, Name, PkgPath        string
	GoFiles, CompiledGoFiles []string
	Imports                  map[string]string `json:",omitempty"`
}

// described is the answer of the protocol.
type described struct {
	Compiler, Arch string
	Roots          []string
	Packages       []description
}

// serveWorld has the parser find the packages, and no others, until done is called.
func serveWorld(world []wire.Package) (done func(), err error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(world)
	if err != nil {
		return nil, err
	}
	name, err := temporary("slipway-codegen-world-*.json", text)
	if err != nil {
		return nil, err
	}
	before := os.Getenv(driver)
	done = func() {
		_ = os.Remove(name)
		_ = os.Setenv(driver, before) // it was there, or is empty, which is the same
		_ = os.Unsetenv(worldFile)
	}
	if err := os.Setenv(driver, program); err != nil {
		done()
		return nil, err
	}
	return done, os.Setenv(worldFile, name)
}

// temporary writes a new file.
func temporary(pattern string, text []byte) (name string, err error) {
	f, err := os.CreateTemp("", pattern)
	if err != nil {
		return "", err
	}
	if _, err = f.Write(text); err != nil {
		_ = f.Close()
		return f.Name(), err
	}
	return f.Name(), f.Close()
}

// describe answers the parser in the place of the go command: the packages of a file, of which the patterns name some.
func describe(name string, patterns []string, stdout, stderr io.Writer) int {
	if err := describeWorld(name, patterns, stdout); err != nil {
		_, _ = fmt.Fprintf(stderr, "slipway-codegen: %v\n", err)
		return 1
	}
	return 0
}

func describeWorld(name string, patterns []string, stdout io.Writer) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	var world []wire.Package
	if err := json.Unmarshal(text, &world); err != nil {
		return err
	}
	answer := described{Compiler: "gc", Arch: runtime.GOARCH, Roots: patterns}
	for _, p := range world {
		answer.Packages = append(answer.Packages, description{
			ID: p.Path, Name: p.Name, PkgPath: p.Path, GoFiles: p.Files, CompiledGoFiles: p.Files, Imports: p.Imports,
		})
	}
	return json.NewEncoder(stdout).Encode(answer)
}
