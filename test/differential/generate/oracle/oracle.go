// Package oracle asks controller-gen's generators, over and over and in one process.
// Starting, and loading what all packages import, takes controller-gen most of its
// time. Here that happens once, so that thousands of packages can be compared.
//
//	o, err := oracle.Start(ctx, program, dir) // loads dir/...
//	answer, err := o.Ask(oracle.Request{Packages: []string{"example.com/v1"}, Runs: 3})
//	err = o.Close()
//
// The program is serve, beside this package.
package oracle

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
)

// Request asks for what a generator makes of some packages.
type Request struct {
	// Generator is crd or webhook; "" means crd.
	Generator string
	// Packages are their import paths.
	Packages []string
	// Options are those of the generator: maxDescLen=80,year=2031
	Options string
	// Runs is how often it is run: its order changes where markers of several
	// kinds make one list.
	Runs int
}

// Answer is what the runs came to.
type Answer struct {
	// Variants are the different results, at least one.
	Variants []Variant
}

// Variant is the result of one run.
type Variant struct {
	// Files are the files written, by name.
	Files map[string]string
	// Errors are what it said, with file:line:column where it knew.
	Errors []string
	// Panic is what it panicked with.
	Panic string
}

// Failed reports whether controller-gen would have failed.
func (v Variant) Failed() bool { return len(v.Errors) > 0 || v.Panic != "" }

// Definition is a marker that the crd generator knows.
type Definition struct {
	Name      string
	Target    string // package, type or field
	Arguments []Argument
}

// Argument is an argument of a marker; its name is "" when the marker's value has
// none.
type Argument struct {
	Name     string
	Type     string // string, int, float64, bool, <any>, []string, *string …
	Optional bool
}

// Definitions returns the markers that the crd generator knows.
func Definitions(ctx context.Context, program string) ([]Definition, error) {
	out, err := exec.CommandContext(ctx, program, "definitions").Output()
	if err != nil {
		return nil, fmt.Errorf("ask for definitions: %w", err)
	}
	var all []Definition
	return all, json.Unmarshal(out, &all)
}

// Oracle is a running program.
type Oracle struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *json.Decoder
}

// Start starts the program in dir, whose packages it loads.
func Start(ctx context.Context, program, dir string) (*Oracle, error) {
	cmd := exec.CommandContext(ctx, program)
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the oracle: %w", err)
	}
	return &Oracle{cmd: cmd, in: in, out: json.NewDecoder(bufio.NewReader(out))}, nil
}

// Ask asks one question.
func (o *Oracle) Ask(request Request) (Answer, error) {
	if err := json.NewEncoder(o.in).Encode(request); err != nil {
		return Answer{}, err
	}
	var answer Answer
	if err := o.out.Decode(&answer); err != nil {
		return Answer{}, fmt.Errorf("answer about %v: %w", request.Packages, err)
	}
	return answer, nil
}

// Close ends the program.
func (o *Oracle) Close() error { return errors.Join(o.in.Close(), o.cmd.Wait()) }
