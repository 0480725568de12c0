package base

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// of makes a base of pairs of paths and contents.
func of(pairs ...string) *Base {
	b := New()
	for i := 0; i < len(pairs); i += 2 {
		b.Set(pairs[i], []byte(pairs[i+1]))
	}
	return b
}

// texts are the files of a base as texts.
func texts(b *Base) map[string]string {
	all := map[string]string{}
	for path, content := range b.Files() {
		all[path] = string(content)
	}
	return all
}

// parsed reads a base that can be read.
func parsed(t *testing.T, data []byte) *Base {
	t.Helper()
	b, err := Parse(data)
	if err != nil {
		t.Fatalf("%v in\n%s", err, data)
	}
	return b
}

// TestBytesAreDeterministic: the same steps give the same bytes, and what was read is written as it was.
func TestBytesAreDeterministic(t *testing.T) {
	var first []byte
	for range 3 {
		b := of("b", "1\n2\n", "a/c", "", "a", "x\ny\n")
		b.Set("b", []byte("1\n}\n2\n"))
		if first == nil {
			first = b.Encode()
		}
		if !bytes.Equal(first, b.Encode()) {
			t.Fatal("the same files gave other bytes")
		}
	}
	b := parsed(t, first)
	if b.Stale() || b.Changed() || !bytes.Equal(b.Encode(), first) {
		t.Errorf("what was read is written as\n%s", b.Encode())
	}
}

// TestText: the record is a text that tools which tidy up texts leave as it is.
func TestText(t *testing.T) {
	b := of("a", "one\n\n\ttwo \nthree\r\nfour\x00\xff\n<<<<<<< HEAD\nfive", " odd \n path", "== x\n", "empty", "")
	for line := range strings.Lines(string(b.Encode())) {
		if trimmed := strings.TrimRight(line, " \t\r\n") + "\n"; line != trimmed {
			t.Errorf("%q would be tidied up", line)
		}
		if strings.ContainsAny(line, "\x00\r") || !utf8.ValidString(line) || strings.HasPrefix(line, "<") {
			t.Errorf("%q is no text of its own", line)
		}
	}
	want := map[string]string{"a": "one\n\n\ttwo \nthree\r\nfour\x00\xff\n<<<<<<< HEAD\nfive", " odd \n path": "== x\n", "empty": ""}
	for name, data := range map[string][]byte{"as written": b.Encode(), "with other line ends": bytes.ReplaceAll(b.Encode(), []byte("\n"), []byte("\r\n"))} {
		if diff := cmp.Diff(want, texts(parsed(t, data))); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestTags: lines that stay keep their tags, and taking out undoes putting in.
func TestTags(t *testing.T) {
	b := of("f", "a {\n}\nend\n")
	before := b.Encode()
	b.Set("f", []byte("a {\n}\nb {\n}\nend\n"))
	b.Set("f", []byte("a {\n}\nb {\n}\nc {\n}\nend\n"))
	var tags []string
	for _, l := range b.files["f"].lines {
		tags = append(tags, l.tag)
	}
	if tags[0] != tags[1] || tags[2] != tags[3] || tags[4] != tags[5] || tags[0] != tags[6] || tags[0] == tags[2] || tags[2] == tags[4] {
		t.Errorf("the tags are %v", tags)
	}
	b.Set("f", []byte("a {\n}\nc {\n}\nend\n"))
	b.Set("f", []byte("a {\n}\nend\n"))
	if diff := cmp.Diff(string(before), string(b.Encode())); diff != "" {
		t.Error(diff)
	}
}

// TestDamaged: the error says in which line what is wrong.
func TestDamaged(t *testing.T) {
	good := string(of("a", "1\n2\n", "b", "1\r\n").Encode())
	for _, c := range []struct {
		data string
		line int
		err  error
	}{
		{"", 1, errNoHeader},
		{"text\n", 1, errNoHeader},
		{strings.TrimSuffix(good, footer+"\n"), 6, errCutOff},
		{good[:strings.LastIndex(good, section)], 4, errCutOff},
		{strings.Replace(good, " 2\n", "?2\n", 1), 4, errTag},
		{strings.Replace(good, " 2\n", "\n2\n", 1), 5, errTag},
		{strings.Replace(good, `"1`, `1`, 1), 6, errTag},
		{strings.Replace(good, `\n"`, `\n`, 1), 6, errQuoted},
		{strings.Replace(good, `\n"`, `\na"`, 1), 6, errQuoted},
		{strings.Replace(good, " a\n", " ../a\n", 1), 2, errOutside},
		{strings.Replace(good, " a\n", "\n", 1), 2, errBegin},
		{strings.Replace(good, " a\n", ` "`+"\n", 1), 2, errQuoted},
		{strings.Replace(good, "== ", "== x", 1), 2, errBegin},
		{strings.Replace(good, good[strings.Index(good, "== "):strings.Index(good, " a\n")+3], "", 1), 2, errNoFile},
		{strings.Replace(good, " 2\n", " 2\n<<<<<<< HEAD\n", 1), 5, errOpen},
		{strings.Replace(good, " 2\n", " 2\n=======\n", 1), 5, errMark},
		{string(make([]byte, maxSize+1)), 0, errLarge},
		{tagged(mostTags + 1), mostTags + 3, errTags},
		{tagged(mostLines - 3), mostTags + 3, errTags}, // next to none is free
		{strings.Replace(good, " 2\n", strings.Repeat(" 2\n"+good[strings.Index(good, "== "):strings.Index(good, " 2\n")], mostLines/2), 1), mostLines + 1, errLines},
		{declared(mostFiles + 1), mostFiles + 2, errFiles},
		{repeated(2000), 1024, errTooMuchMerged},
		{conflicting(mostMerged), 2, errTooMuchMerged},
	} {
		_, err := Parse([]byte(c.data))
		syntax, ok := errors.AsType[*SyntaxError](err)
		if !ok || syntax.Line != c.line || c.err != nil && !errors.Is(err, c.err) {
			t.Errorf("got %v, want line %d: %v, of\n%.300s", err, c.line, c.err, c.data)
		}
	}
	_, err := Parse([]byte(strings.Replace(good, "base 1:", "base 2:", 1)))
	if newer, ok := errors.AsType[*VersionError](err); !ok || newer.Version != "2" {
		t.Errorf("another version: %v", err)
	}
}

// written is a base with these lines.
func written(all iter.Seq[string]) string {
	var b strings.Builder
	b.WriteString(header + "\n")
	for line := range all {
		b.WriteString(line + "\n")
	}
	return b.String() + footer + "\n"
}

// name is a name of an id or a tag by its number.
func name(length, n int) string {
	digits := []byte(strings.Repeat("0", length))
	for i := length - 1; n > 0; i, n = i-1, n/32 {
		digits[i] = "0123456789abcdefghijklmnopqrstuv"[n%32]
	}
	return string(digits)
}

// tagged is a base with a file of so many lines, each with a tag of its own.
func tagged(lines int) string {
	return written(func(yield func(string) bool) {
		ok := yield("== 000000 Makefile")
		for i := 0; i < lines && ok; i++ {
			ok = yield("000000" + name(tagLength, i))
		}
	})
}

// declared is a base with so many files.
func declared(files int) string {
	return written(func(yield func(string) bool) {
		for i := range files {
			yield(fmt.Sprintf("== %s f%d", name(idLength, i), i))
		}
	})
}

// repeated is a base with a file that begins that often, each time with another line.
func repeated(times int) string {
	return written(func(yield func(string) bool) {
		for i := range times {
			yield("== 000000 Makefile")
			yield("000000" + name(tagLength, i))
		}
	})
}

// conflicting is a base with a conflict of so many lines.
func conflicting(lines int) string {
	return written(func(yield func(string) bool) {
		yield(ours + " HEAD")
		for i := range lines {
			yield("0000000000 " + strconv.Itoa(i))
		}
		yield(theirs)
		yield(end + " other")
	})
}

// TestManyTags: a file whose lines have many tags is tagged anew, long before it could not be read any more.
func TestManyTags(t *testing.T) {
	b := parsed(t, []byte(tagged(mostTags)))
	before, _ := b.File("Makefile")
	b.Set("Makefile", append(slices.Clone(before), "all:\n"...))
	if tags := parsed(t, b.Encode()).files["Makefile"].lines; tags[0].tag != tags[mostTags].tag {
		t.Errorf("%d lines have the tags %s … %s", len(tags), tags[0].tag, tags[mostTags].tag)
	}
}

// TestSlideFar: taking half of very many lines out that are all the same ends.
func TestSlideFar(t *testing.T) {
	b := of("f", strings.Repeat("}\n", 300_000))
	b.Set("f", bytes.Repeat([]byte("}\n"), 150_000))
	if got := parsed(t, b.Encode()).files["f"].lines; len(got) != 150_000 {
		t.Errorf("%d lines are left", len(got))
	}
}

// TestRoundTrip: whatever files hold and however they change, they are read as they were written.
func TestRoundTrip(t *testing.T) {
	parts := []string{"a\n", "}\n", "\n", "\t x\n", "a \n", "b\r\n", "\x00", "c", "\xff\n", "== a\n", "<<<<<<< HEAD\n", "\"q\"\n", "=======\n", "\u2028\ufeff\n", header + "\n"}
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 1))
		b, want := New(), map[string]string{}
		for range 30 {
			path := fmt.Sprintf("%s%d", []string{"f", "dir/f", " f", "\"f", "f\n", "ü"}[random.IntN(6)], random.IntN(3))
			if random.IntN(8) == 0 {
				b.Remove(path)
				delete(want, path)
				continue
			}
			content := strings.SplitAfter(want[path], "\n")
			for range random.IntN(4) {
				at := random.IntN(len(content) + 1)
				content = append(content[:at:at], append([]string{parts[random.IntN(len(parts))]}, content[at:]...)...)
			}
			if at := random.IntN(len(content)); random.IntN(2) == 0 {
				content = append(content[:at:at], content[at+1:]...)
			}
			want[path] = strings.Join(content, "")
			b.Set(path, []byte(want[path]))
		}
		again := parsed(t, b.Encode())
		if diff := cmp.Diff(want, texts(again)); diff != "" || again.Stale() {
			t.Fatalf("seed %d: %s", seed, diff)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(of("a", "b\n", "c", "d\r\n\ne").Encode())
	f.Add([]byte(strings.Replace(string(of("a", "b\nc\n").Encode()), "\n", "\n<<<<<<< a\n|||||||\n=======\n>>>>>>>\n", 1)))
	f.Add([]byte{0x1f, 0x8b})
	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := Parse(data)
		if err != nil {
			_, syntax := errors.AsType[*SyntaxError](err)
			if _, version := errors.AsType[*VersionError](err); !syntax && !version {
				t.Errorf("%v has no place", err)
			}
			return
		}
		for path := range b.Files() {
			if !filepath.IsLocal(path) {
				t.Errorf("file %q lies outside", path)
			}
		}
		again, err := Parse(b.Encode())
		if err != nil || !maps.Equal(texts(b), texts(again)) || again.Stale() {
			t.Errorf("%q is written as %q: %v", texts(b), b.Encode(), err)
		}
	})
}
