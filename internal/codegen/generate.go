package codegen

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/slipway-dev/slipway/internal/codegen/wire"
	"github.com/slipway-dev/slipway/internal/process"
	programs "github.com/slipway-dev/slipway/internal/program"
	"github.com/slipway-dev/slipway/internal/report"
)

// ErrRefused is returned when the generators did not like what they read.
var ErrRefused = errors.New("the code generators refused")

// Generate has a request done by the program, which is built if need be. Inputs
// is a hash over what the program will read: to the same request with the same
// inputs the answer is remembered. Version is that of the generators, see [Finder.Program].
func (f *Finder) Generate(ctx context.Context, version string, request wire.Request, inputs string) ([]wire.File, error) {
	program, err := f.Program(ctx, version)
	if err != nil {
		return nil, err
	}
	request.Protocol = wire.Protocol
	memory, err := f.memory(program, request, inputs)
	if err != nil {
		return nil, err
	}
	if files, ok := recall(memory); ok {
		return files, nil
	}
	files, err := ask(ctx, program, request)
	if err == nil {
		keep(memory, files)
	}
	return files, err
}

// ask runs the program for one request.
func ask(ctx context.Context, program string, request wire.Request) ([]wire.File, error) {
	input, err := json.Marshal(request)
	if err != nil {
		return nil, err
	}
	var stdout, stderr bytes.Buffer
	cmd, err := process.CommandContext(ctx, program)
	if err != nil {
		return nil, err
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(input), &stdout, &stderr
	cmd.Env = append(os.Environ(), "PWD="+request.Dir)
	cmd.WaitDelay = time.Second
	err = cmd.Run()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, &report.Error{What: name + " failed", Where: program, Err: err, Hint: firstLines(programs.LastWords(stderr.String(), "SLIPWAY_CODEGEN"))}
	}
	var answer wire.Answer
	if err := json.Unmarshal(stdout.Bytes(), &answer); err != nil {
		return nil, &report.Error{What: name + " gave no answer", Where: program, Err: err, Hint: firstLines(stderr.String())}
	}
	switch {
	case answer.Protocol != wire.Protocol:
		return nil, &report.Error{What: fmt.Sprintf("%s uses protocol %d, this slipway uses %d", name, answer.Protocol, wire.Protocol), Where: program,
			Hint: "use programs of one version; unset SLIPWAY_CODEGEN to let slipway build its own"}
	case answer.Problem != "":
		return nil, &report.Error{Class: report.BadProject, What: "the code generators cannot read the code", Where: request.Dir, Err: fmt.Errorf("%w: %s", ErrRefused, answer.Problem)}
	}
	return answer.Files, nil
}
