package recipe

import (
	"bytes"
	"go/build"
	"io"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"

	"github.com/slipway-dev/slipway/internal/shellword"
	"github.com/slipway-dev/slipway/internal/sourcefolder"
)

// maxGoFiles bounds how many files are searched for directives.
const maxGoFiles = 50_000

// Directives returns the go:generate commands of a module, in the order in which go generate runs them. It skips nested
// modules, folders that the go command's patterns skip, and module caches, whose folders contain an @. Getenv supplies
// variables.
func Directives(files fs.FS, getenv func(string) string) (texts []Text, err error) {
	left := maxGoFiles
	err = fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return skipUnread(name, entry, err)
		case entry.IsDir():
			if name != "." && skipsFolder(files, name, entry.Name()) {
				return fs.SkipDir
			}
			return nil
		case path.Ext(name) != ".go" || left == 0:
			return nil
		}
		left--
		info, err := fs.Stat(files, name)
		if err != nil || !isText(info) {
			return nil
		}
		if has, err := contains(files, name, []byte("//go:generate")); err != nil || !has {
			return nil
		}
		if content, err := fs.ReadFile(files, name); err == nil && generates(name, content) {
			texts = append(texts, directivesIn(name, string(content), getenv)...)
		}
		return nil // the compiler reports files that cannot be read
	})
	return texts, err
}

// contains reports whether a file has a text. Some file systems know it without a copy of the file.
func contains(files fs.FS, name string, text []byte) (bool, error) {
	if searched, is := files.(interface {
		Contains(name string, text []byte) (bool, error)
	}); is {
		return searched.Contains(name, text)
	}
	content, err := fs.ReadFile(files, name)
	return bytes.Contains(content, text), err
}

// skipUnread skips an unreadable folder, except for the project's own.
func skipUnread(name string, entry fs.DirEntry, err error) error {
	if name == "." {
		return err
	}
	if entry != nil && entry.IsDir() {
		return fs.SkipDir
	}
	return nil
}

// skipsFolder reports whether a folder has no code of the module.
func skipsFolder(files fs.FS, dir, base string) bool {
	if sourcefolder.WithoutCode(base) || strings.Contains(base, "@") {
		return true
	}
	info, err := fs.Stat(files, path.Join(dir, "go.mod"))
	return err == nil && !info.IsDir()
}

// generates reports whether go generate reads a file. It does so by the file's build constraints, with the tag
// generate.
func generates(name string, content []byte) bool {
	context := build.Default
	context.BuildTags = []string{"generate"}
	context.CgoEnabled = true
	context.OpenFile = func(string) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil }
	match, err := context.MatchFile(path.Dir(name), path.Base(name))
	return match && err == nil
}

func directivesIn(name, content string, getenv func(string) string) (texts []Text) {
	dir, line := path.Dir(name), 0
	command := "go generate ./" + dir
	if dir == "." {
		dir, command = "", "go generate ."
	}
	if !shellword.IsPlain(strings.TrimPrefix(command, "go generate ")) {
		command = ""
	}
	shorthands := map[string][]string{}
	for text := range strings.Lines(content) {
		line++
		directive, is := strings.CutPrefix(text, "//go:generate")
		if !is || !strings.HasPrefix(directive, " ") && !strings.HasPrefix(directive, "\t") {
			continue
		}
		words := directiveWords(directive, func(variable string) string {
			switch variable {
			case "GOFILE":
				return path.Base(name)
			case "GOLINE":
				return strconv.Itoa(line)
			case "DOLLAR":
				return "$"
			case "PWD":
				return rooted(dir)
			case "GOPACKAGE", "GOARCH", "GOOS", "GOROOT":
				return Unknown
			}
			return getenv(variable)
		})
		switch {
		case len(words) == 0:
		case words[0] == "-command" && len(words) > 1:
			shorthands[words[1]] = words[2:]
		default:
			if long, is := shorthands[words[0]]; is {
				words = append(append([]string{}, long...), words[1:]...)
			}
			texts = append(texts, Text{File: name, Line: line, Command: command, Target: "go:generate", Dir: dir, Shell: quoted(words), Source: strings.TrimSpace(directive)})
		}
	}
	return texts
}

// directiveWords splits a directive as go generate does: Go string literals count as one word, and variables are
// expanded. An invalid directive has no words.
func directiveWords(text string, value func(string) string) (words []string) {
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimLeft(text, " \t") {
		if text[0] == '"' {
			prefix, err := strconv.QuotedPrefix(text)
			if err != nil {
				return nil
			}
			word, err := strconv.Unquote(prefix)
			if err != nil {
				return nil
			}
			words, text = append(words, os.Expand(word, value)), text[len(prefix):]
			continue
		}
		end := strings.IndexAny(text+" ", " \t")
		words, text = append(words, os.Expand(text[:end], value)), text[end:]
	}
	return words
}

// quoted joins words into shell text.
func quoted(words []string) string {
	all := make([]string, len(words))
	for i, word := range words {
		if all[i] = word; shellword.Quote(strings.TrimLeft(word, "-")) != strings.TrimLeft(word, "-") {
			all[i] = shellword.Quote(word)
		}
	}
	return strings.Join(all, " ")
}
