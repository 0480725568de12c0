// Command serve answers what controller-gen's generators make of packages,
// one after another and in one process: what takes controller-gen most of its
// time, starting and loading what all packages import, happens once.
//
//	serve definitions        # the markers that it knows, as JSON
//	serve                    # loads ./..., then answers requests on stdin
//
// A request and an answer are JSON objects, see package oracle.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"sigs.k8s.io/controller-tools/pkg/loader"

	"github.com/slipway-dev/slipway/test/differential/generate/oracle"
)

func main() {
	if err := run(os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "serve:", err)
		os.Exit(1)
	}
}

func run(args []string, in io.Reader, out io.Writer) error {
	if len(args) == 1 && args[0] == "definitions" {
		return json.NewEncoder(out).Encode(definitions())
	}
	roots, err := loader.LoadRoots("./...")
	if err != nil {
		return err
	}
	byPath := make(map[string]*loader.Package, len(roots))
	for _, root := range roots {
		byPath[root.PkgPath] = root
	}
	return answer(byPath, in, out)
}

func answer(packages map[string]*loader.Package, in io.Reader, out io.Writer) error {
	requests := json.NewDecoder(bufio.NewReader(in))
	buffered := bufio.NewWriter(out)
	answers := json.NewEncoder(buffered)
	for requests.More() {
		var request oracle.Request
		if err := requests.Decode(&request); err != nil {
			return err
		}
		var roots []*loader.Package
		for _, path := range request.Packages {
			if packages[path] == nil {
				return fmt.Errorf("there is no package %s", path)
			}
			roots = append(roots, packages[path])
		}
		if err := answers.Encode(generate(roots, request)); err != nil {
			return err
		}
		if err := buffered.Flush(); err != nil {
			return err
		}
	}
	return nil
}
