// Package crdcheck has CustomResourceDefinitions checked as an API server would check them, and compared with older
// ones.
//
//	checker := crdcheck.New(getenv, handler)
//	findings, err := checker.Check(ctx, files)
//
// It asks the slipway-check program, which holds the API server's validation and is built when it is needed for the
// first time (package program). The cache remembers the program's findings about a definition under a hash of the
// content. So a definition that did not change costs no more than reading a small file.
//
// A finding names a place in the definition, and what to do about it in terms of Go and markers; the author of the
// definition knows the place in the code.
package crdcheck

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/slipway-dev/slipway/internal/process"
	"github.com/slipway-dev/slipway/internal/program"
	"github.com/slipway-dev/slipway/internal/report"
)

// File is a file with definitions.
type File struct {
	Name    string `json:"name"`
	Content string `json:"content"`
}

// Finding is something wrong with a definition.
type Finding struct {
	// File is the name of the file, and Definition that of the definition.
	File       string `json:"file"`
	Definition string `json:"definition"`
	// Path is the place in the definition, like spec.versions[0].schema.openAPIV3Schema.properties[spec].
	Path string `json:"path"`
	// Value is what is there, when it is a short text.
	Value   string `json:"value,omitempty"`
	Message string `json:"message"`
	// Reason is what the message is about, where something follows from that.
	Reason Reason `json:"reason,omitempty"`
	// Refused says that no API server takes the definition, or the sample.
	Refused bool `json:"refused"`
	// Line is the line of the file, of findings about samples.
	Line int `json:"line,omitempty"`
}

// Rule is the rule that the definition breaks.
func (f Finding) Rule() report.Rule {
	if f.Refused {
		return report.RuleRefusedDefinition
	}
	return report.RuleDoubtfulDefinition
}

// Change is a difference between two states of a definition.
type Change struct {
	File       string `json:"file"`
	Definition string `json:"definition"`
	Version    string `json:"version,omitempty"`
	Path       string `json:"path,omitempty"`
	// Field is the place as users write it: spec.schedule.
	Field   string `json:"field,omitempty"`
	Rule    string `json:"rule"`
	Message string `json:"message"`
	// Breaking says that an object or a client that was right before may be wrong now.
	Breaking bool `json:"breaking"`
}

// Protocol is the number of the form of questions and answers, the same as in the program.
const Protocol = 3

// question is what the program is asked: about Files to check, about Samples of the definitions in Files, or about what
// After changes in Before to compare.
type question struct {
	Files   []File `json:"files,omitempty"`
	Samples []File `json:"samples,omitempty"`
	Before  []File `json:"before,omitempty"`
	After   []File `json:"after,omitempty"`
}

// answer is what the program says.
type answer struct {
	Protocol   int       `json:"protocol"`
	Kubernetes string    `json:"kubernetes"`
	Findings   []Finding `json:"findings,omitempty"`
	Changes    []Change  `json:"changes,omitempty"`
}

// Checker asks the program.
type Checker struct {
	finder *program.Finder
	memory memory
}

// New returns a checker that asks getenv for SLIPWAY_CHECK, SLIPWAY_SOURCE and SLIPWAY_CACHE, and reports h when it has
// to build the program.
func New(getenv func(string) string, h report.Handler) *Checker {
	finder := program.NewFinder(getenv, h)
	return &Checker{finder: finder, memory: newMemory(finder)}
}

// ErrUnavailable is returned when there is no program and none can be built.
var ErrUnavailable = errors.New("the checker of CRDs is missing and cannot be built")

// Command is what builds the program, or finds out why that fails.
func (c *Checker) Command() string { return c.finder.BuildChecker() }

// Check returns what is wrong with the definitions in files, in the order of the files. Only those that are not
// remembered are checked.
func (c *Checker) Check(ctx context.Context, files []File) ([]Finding, error) {
	return c.remembered(files, "", func(unknown []File) (answer, error) {
		return c.ask(ctx, "check", question{Files: unknown})
	})
}

// CheckSamples returns why an API server would refuse the objects in samples, whose definitions are those in files, in
// the order of the samples.
func (c *Checker) CheckSamples(ctx context.Context, files, samples []File) ([]Finding, error) {
	h := sha256.New()
	for _, f := range files {
		fmt.Fprintf(h, "%d\n%s", len(f.Content), f.Content)
	}
	return c.remembered(samples, fmt.Sprintf("samples of %x\n", h.Sum(nil)), func(unknown []File) (answer, error) {
		return c.ask(ctx, "samples", question{Files: files, Samples: unknown})
	})
}

// remembered returns the findings on files, of which ask is asked about those that are not remembered. They depend on
// the content of a file and on with.
func (c *Checker) remembered(files []File, with string, ask func(unknown []File) (answer, error)) ([]Finding, error) {
	key := func(f File) File { return File{Name: f.Name, Content: with + f.Content} }
	known := make(map[string][]Finding)
	var unknown []File
	for _, f := range files {
		if findings, ok := c.memory.recall(key(f)); ok {
			known[f.Name] = findings
			continue
		}
		unknown = append(unknown, f)
	}
	if len(unknown) > 0 {
		a, err := ask(unknown)
		if err != nil {
			return nil, err
		}
		for _, f := range unknown {
			known[f.Name] = about(a.Findings, f.Name)
			c.memory.keep(key(f), known[f.Name])
		}
	}
	var all []Finding
	for _, f := range files {
		all = append(all, known[f.Name]...)
	}
	return all, nil
}

func about(findings []Finding, file string) []Finding {
	var some []Finding
	for _, f := range findings {
		if f.File == file {
			some = append(some, f)
		}
	}
	return some
}

// Compare returns how the definitions in after differ from those in before, by definition, breaking changes first.
func (c *Checker) Compare(ctx context.Context, before, after []File) ([]Change, error) {
	if Off(c.finder.Getenv) {
		return nil, &report.Error{What: "the checker compares CRDs, and it is turned off", Where: "SLIPWAY_CHECK=off", Hint: "unset SLIPWAY_CHECK"}
	}
	a, err := c.ask(ctx, "compare", question{Before: before, After: after})
	return a.Changes, err
}

// killDelay is how long the program may take to end after an interrupt.
const killDelay = time.Second

// ask runs the program once.
func (c *Checker) ask(ctx context.Context, verb string, q question) (answer, error) {
	path, err := c.finder.EnsureChecker(ctx)
	if err != nil {
		if c.finder.Getenv("SLIPWAY_CHECK") != "" {
			return answer{}, err // what the user named is used or refused
		}
		return answer{}, unavailable(ctx, err)
	}
	in, err := json.Marshal(q)
	if err != nil {
		return answer{}, err
	}
	cmd, err := process.CommandContext(ctx, path, verb)
	if err != nil {
		return answer{}, err
	}
	cmd.WaitDelay = killDelay
	cmd.Stdin = bytes.NewReader(in)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if ctx.Err() != nil {
		return answer{}, ctx.Err()
	}
	if err != nil {
		return answer{}, &report.Error{What: "the checker of CRDs failed", Where: path, Err: err, Hint: program.LastWords(stderr.String(), "SLIPWAY_CHECK")}
	}
	var a answer
	if err := json.Unmarshal(out, &a); err != nil {
		return answer{}, &report.Error{What: "the answer of the checker of CRDs is invalid", Where: path, Err: err}
	}
	if a.Protocol != Protocol {
		return answer{}, &report.Error{What: "the checker of CRDs has another version", Where: path,
			Err: fmt.Errorf("it uses protocol %d, this slipway uses %d", a.Protocol, Protocol), Hint: "unset SLIPWAY_CHECK, or delete the program, to let slipway build its own"}
	}
	return a, nil
}

// unavailable tells an interrupt, which is no reason to do without.
func unavailable(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return fmt.Errorf("%w: %w", ErrUnavailable, err)
}
