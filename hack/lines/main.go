// Command lines counts the lines of Go code by package: those that hold more than blanks and comments. Tests, scripts
// and what lies below testdata are counted apart, as all their lines. It lists the files and functions that are longer
// than the house allows.
//
//	lines internal                 every package below internal
//	lines -depth 2 internal        summed up by the first two folders
//
// It prints Markdown.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "lines:", err)
		os.Exit(1)
	}
}

func run(args []string, stdout io.Writer) error {
	flags := flag.NewFlagSet("lines", flag.ContinueOnError)
	depth := flags.Int("depth", 0, "sum packages up by their first `n` folders; 0 lists each package")
	if err := flags.Parse(args); err != nil {
		return err
	}
	roots := flags.Args()
	if len(roots) == 0 {
		roots = []string{"."}
	}
	var counted tree
	for _, root := range roots {
		if err := counted.read(root, *depth); err != nil {
			return err
		}
	}
	counted.print(stdout)
	return nil
}
