package kubernetes

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/go-logr/logr/funcr"
	"k8s.io/klog/v2"

	"github.com/slipway-dev/slipway/internal/codegen/wire"
)

// Main answers the request on stdin and returns the program's exit code. A
// request that cannot be fulfilled is answered with a problem, and that is no
// failure of the program.
func Main(stdin io.Reader, stdout, stderr io.Writer) int {
	if world := os.Getenv(worldFile); world != "" {
		return describe(world, os.Args[1:], stdout, stderr)
	}
	said := hear(func(said string) {
		code := send(stdout, stderr, wire.Answer{Problem: said})
		os.Exit(code)
	})
	var request wire.Request
	if err := json.NewDecoder(stdin).Decode(&request); err != nil {
		_, _ = fmt.Fprintf(stderr, "slipway-codegen: no request on stdin: %v\n", err)
		return 2
	}
	files, err := answer(request)
	if err != nil {
		return send(stdout, stderr, wire.Answer{Problem: problem(err, said.String())})
	}
	return send(stdout, stderr, wire.Answer{Files: files})
}

func send(stdout, stderr io.Writer, a wire.Answer) int {
	a.Protocol = wire.Protocol
	if err := json.NewEncoder(stdout).Encode(a); err != nil {
		_, _ = fmt.Fprintf(stderr, "slipway-codegen: %v\n", err)
		return 1
	}
	return 0
}

// problem is an error together with what was logged before it.
func problem(err error, said string) string {
	if said == "" {
		return err.Error()
	}
	return said + "\n" + err.Error()
}

// hear collects what the generators log. Many of their mistakes are told by
// klog.Fatal, which is to end the process: died is called in its place, with what
// was said, and must not return.
func hear(died func(said string)) *bytes.Buffer {
	var said bytes.Buffer
	klog.SetLogger(funcr.NewJSON(func(line string) {
		var entry struct {
			Msg   string `json:"msg"`
			Error any    `json:"error"`
		}
		if json.Unmarshal([]byte(line), &entry) != nil {
			entry.Msg = line
		}
		_, _ = fmt.Fprintln(&said, strings.TrimSpace(entry.Msg))
		if entry.Error != nil {
			_, _ = fmt.Fprintln(&said, entry.Error)
		}
	}, funcr.Options{}))
	klog.OsExit = func(int) { died(strings.TrimSpace(said.String())) }
	return &said
}

// answer does the runs of a request one after the other.
func answer(request wire.Request) (files []wire.File, err error) {
	if request.Protocol != wire.Protocol {
		return nil, fmt.Errorf("the request uses protocol %d, slipway-codegen uses %d: their versions differ", request.Protocol, wire.Protocol)
	}
	defer func() {
		if r := recover(); r != nil { // how the generators refuse tags that they cannot read
			files, err = nil, fmt.Errorf("%v", r)
		}
	}()
	loaded, err := load(request)
	if err != nil {
		return nil, err
	}
	for _, run := range request.Runs {
		made, err := loaded.run(run)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", run.Generator, err)
		}
		files = append(files, made...)
	}
	return files, nil
}
