package delivery

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/operation"
	spawn "github.com/slipway-dev/slipway/internal/process"
	"github.com/slipway-dev/slipway/internal/report"
)

// kubectlGrace is how long kubectl may take to end after an interrupt.
const kubectlGrace = 2 * time.Second

// kubectlAsData runs kubectl and reports what it prints: JSON as results, else lines as output. An error has kubectl's
// exit code.
func kubectlAsData(ctx context.Context, s *operation.Session, path string, args []string) error {
	cmd, err := spawn.Command(path, asJSON(args)...)
	if err != nil {
		return err
	}
	read, write := io.Pipe()
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = s.Dir, os.Environ(), s.Stdin, write, s.Stderr
	reported := make(chan struct{})
	go func() {
		defer close(reported)
		reportPrinted(s.Handler, read)
		_, _ = io.Copy(io.Discard, read) // nothing else is to block kubectl
	}()
	err = spawn.Supervise(ctx, cmd, kubectlGrace)
	_ = write.Close()
	<-reported
	if exit, is := errors.AsType[*exec.ExitError](err); is {
		return &report.Error{What: "kubectl failed", Where: "kubectl " + strings.Join(args, " "), Err: err, Code: spawn.ExitCode(exit.ProcessState)}
	}
	return err
}

// reportPrinted reports JSON values as results as they come, and from the first other text on lines as output.
func reportPrinted(h report.Handler, printed io.Reader) {
	var begun bytes.Buffer // the value that is being read
	decoder := json.NewDecoder(io.TeeReader(printed, &begun))
	for {
		var value json.RawMessage
		start := decoder.InputOffset()
		err := decoder.Decode(&value)
		isData := err == nil && (value[0] == '{' || value[0] == '[')
		if isData {
			h.Handle(report.Result{Value: value})
			begun.Next(int(decoder.InputOffset() - start))
			continue
		}
		rest := strings.TrimLeft(begun.String(), "\n")
		for line := range lines(io.MultiReader(strings.NewReader(rest), printed)) {
			h.Handle(report.Output{Part: report.KubectlPart, Text: line})
		}
		return
	}
}

// asJSON asks kubectl for JSON where its command has that and the arguments choose no form.
func asJSON(args []string) []string {
	verb, at := kubectlVerb(args)
	hasJSON := []string{"annotate", "apply", "create", "events", "get", "label", "patch", "replace", "scale", "version"}
	if !slices.Contains(hasJSON, verb) || slices.ContainsFunc(args[at:], choosesForm) {
		return args
	}
	return slices.Insert(slices.Clone(args), at+1, "--output=json")
}

// choosesForm reports whether an argument chooses a form of output, or asks for something that has only one.
func choosesForm(arg string) bool {
	return strings.HasPrefix(arg, "-o") || strings.HasPrefix(arg, "--output") || strings.HasPrefix(arg, "--raw") ||
		slices.Contains([]string{"-h", "--help", "--short", "edit-last-applied", "view-last-applied"}, arg)
}

// kubectlVerb is kubectl's command among its arguments, and its index; "" if there is none.
func kubectlVerb(args []string) (verb string, at int) {
	withValue := []string{"-n", "--namespace", "--context", "--cluster", "--user", "--kubeconfig", "-s", "--server", "-v", "--as", "--as-group", "--as-uid",
		"--token", "--request-timeout", "--cache-dir", "--certificate-authority", "--client-certificate", "--client-key", "--tls-server-name", "--username", "--password", "--profile", "--kuberc"}
	for at = 0; at < len(args); at++ {
		switch arg := args[at]; {
		case slices.Contains(withValue, arg):
			at++
		case !strings.HasPrefix(arg, "-"):
			return arg, at
		}
	}
	return "", 0
}

// longestLine bounds a line of output, in bytes: a longer one is divided.
const longestLine = 64 << 10

// lines are the lines of a text as they come.
func lines(r io.Reader) iter.Seq[string] {
	return func(yield func(string) bool) {
		buffered := bufio.NewReaderSize(r, longestLine)
		for {
			line, _, err := buffered.ReadLine()
			if err != nil || !yield(string(line)) {
				return
			}
		}
	}
}
