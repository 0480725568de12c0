package cli

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"mvdan.cc/sh/v3/expand"
	shell "mvdan.cc/sh/v3/syntax"
)

// TestShownCommandsExist: each command of slipway in a block of a page or in an example of a help text exists, with its
// flags; the flags' values and the number of arguments are accepted. Package docs runs the blocks that are marked sh;
// nothing runs the others.
func TestShownCommandsExist(t *testing.T) {
	check := func(where, script string) (shown int) {
		lines, err := calls(script)
		if err != nil {
			t.Errorf("%s: %v in\n%s", where, err, script)
		}
		for _, args := range lines {
			if err := acceptable(args); err != nil {
				t.Errorf("%s: slipway %q: %v", where, args, err)
			}
		}
		return len(lines)
	}
	inPages, inHelp := 0, 0
	for path, text := range pagesOfCommands(t) {
		for _, block := range shellBlocks(text) {
			inPages += check(path, block)
		}
	}
	for _, cmd := range below((&invocation{Env: Env{Getenv: func(string) string { return "" }}}).root()) {
		inHelp += check(cmd.CommandPath()+" --help", cmd.Example)
	}
	if inPages == 0 || inHelp == 0 {
		t.Errorf("%d commands in pages, %d in help texts", inPages, inHelp)
	}
}

// pagesOfCommands returns the texts of README.md and of all pages, apart from the list of commands, which is made from
// their definitions.
func pagesOfCommands(t *testing.T) map[string]string {
	t.Helper()
	root := filepath.Join("..", "..")
	pages := map[string]string{}
	read := func(path string) error {
		text, err := os.ReadFile(path)
		pages[path] = string(text)
		return err
	}
	err := read(filepath.Join(root, "README.md"))
	if err == nil {
		err = filepath.WalkDir(filepath.Join(root, "docs"), func(path string, _ fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".md" || filepath.Base(path) == "commands.md" {
				return err
			}
			return read(path)
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	return pages
}

// typed matches a line of a block with output that a reader is to type.
var typed = regexp.MustCompile(`^(?:\$ |slipway [a-z-]+(?: |$))`)

// shellBlocks returns what a reader is to type: blocks marked sh as a whole, and of blocks marked console or text the
// lines with a prompt or with a command of slipway. A block marked fails shows a mistake.
func shellBlocks(page string) []string {
	var blocks []string
	mark, block, continued := "", "", false
	for line := range strings.Lines(page) {
		text := strings.TrimSpace(line)
		fence, isFence := strings.CutPrefix(text, "```")
		switch {
		case isFence && mark == "":
			mark, block = fence+" ", ""
		case isFence:
			blocks, mark = append(blocks, block), ""
		case strings.Contains(mark, " fails"):
		case strings.HasPrefix(mark, "sh "):
			block += line
		case strings.HasPrefix(mark, "console "), strings.HasPrefix(mark, "text "):
			if typed.MatchString(text) || continued {
				block += strings.TrimPrefix(text, "$ ") + "\n"
				continued = strings.HasSuffix(text, `\`)
			}
		}
	}
	return blocks
}

// calls returns the arguments of each call of slipway in a script. Variables have any value.
func calls(script string) (lines [][]string, err error) {
	file, err := shell.NewParser().Parse(strings.NewReader(script), "")
	if err != nil {
		return nil, err
	}
	values := &expand.Config{
		Env:      expand.FuncEnviron(func(string) string { return "value" }),
		CmdSubst: func(io.Writer, *shell.CmdSubst) error { return nil },
	}
	shell.Walk(file, func(node shell.Node) bool {
		call, ok := node.(*shell.CallExpr)
		if !ok || len(call.Args) == 0 || call.Args[0].Lit() != "slipway" {
			return true
		}
		args := []string{}
		for _, word := range call.Args[1:] {
			arg, literalErr := expand.Literal(values, word)
			if literalErr != nil {
				err = literalErr
			}
			args = append(args, arg)
		}
		lines = append(lines, args)
		return true
	})
	return lines, err
}

// acceptable returns why a command line would be refused before its verb runs.
func acceptable(args []string) error {
	root := (&invocation{Env: Env{Args: args, Getenv: func(string) string { return "" }}}).root()
	cmd, rest, err := root.Traverse(args)
	if err != nil || cmd.DisableFlagParsing { // another program's command line
		return err
	}
	if err := cmd.ParseFlags(rest); errors.Is(err, pflag.ErrHelp) {
		return nil
	} else if err != nil {
		return err
	}
	if err := strayFlags(cmd); err != nil {
		return err
	}
	return cmd.ValidateArgs(cmd.Flags().Args())
}

// TestMistakenCalls: what a page may get wrong is found.
func TestMistakenCalls(t *testing.T) {
	for script, ok := range map[string]bool{
		"slipway cluster start --nodes real":             true,
		"KUBECONFIG=x slipway kubectl get x --any":       true,
		"until slipway version; do sleep 1; done":        true,
		"slipway cache clean --older-than \"$HOW_LONG\"": false,
		"slipway cache clean --older-than 720h":          true,
		"slipway kind create cluster":                    false,
		"slipway cluster begin":                          false,
		"slipway version --chek":                         false,
		"slipway version now":                            false,
		"slipway cache --dry-run clean":                  false,
		"echo \"$(slipway version --chek)\"":             false,
		"slipway version | slipway version --chek":       false,
	} {
		lines, err := calls(script)
		if err != nil || len(lines) == 0 {
			t.Fatalf("%s: %d commands, %v", script, len(lines), err)
		}
		var refused error
		for _, args := range lines {
			if err := acceptable(args); err != nil {
				refused = err
			}
		}
		if (refused == nil) != ok {
			t.Errorf("%s: accepted is %t: %v", script, !ok, refused)
		}
	}
}

// TestShellBlocks: blocks are read by their marks.
func TestShellBlocks(t *testing.T) {
	const page = "```sh\na\n```\n```sh fails\nb\n```\n```sh background\nc\n```\n```console\n$ d\noutput\n```\n```text\ne\n$ f \\\n  g\nslipway h\nslipway v0.1.0\n```\n```go file=x.go\n$ i\n```\n"
	if got := strings.Join(shellBlocks(page), ""); got != "a\nc\nd\nf \\\ng\nslipway h\n" {
		t.Errorf("blocks: %q", got)
	}
}
