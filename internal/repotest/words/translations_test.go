package words_test

import (
	"crypto/sha256"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const (
	translated     = "docs/zh/"
	translatedHome = translated + "README.md" // the index in Chinese, which has no original
)

// translationOf is how a page in Chinese names the text that it translates, below its title.
var translationOf = regexp.MustCompile(`\A(?:<!-- start:[^\n]*-->\n)?# [^\n]+\n\n?<!-- translation of (\S+) at sha256:([0-9a-f]{64}) -->\n`)

// translations are the pages in Chinese, with the English page of each.
func translations(t *testing.T) map[string]string {
	t.Helper()
	pages := map[string]string{}
	for _, page := range files(t, ".md") {
		if name, ok := strings.CutPrefix(page, translated); ok && page != translatedHome {
			pages[page] = "docs/" + name
		}
	}
	return pages
}

// TestTranslationsFollow: a page in Chinese names the present text of its original. There is no flag that sets the
// hash: its author does, after translating what has changed.
func TestTranslationsFollow(t *testing.T) {
	for page, original := range translations(t) {
		if err := follows(page, readText(t, page), original, readText(t, original)); err != nil {
			t.Error(err)
		}
	}
}

// follows returns an error if a page does not name its original, or an older text of it.
func follows(page, text, original, present string) error {
	hash := fmt.Sprintf("%x", sha256.Sum256([]byte(present)))
	m := translationOf.FindStringSubmatch(text)
	switch {
	case m == nil || m[1] != original:
		return fmt.Errorf("%s: below its title must stand <!-- translation of %s at sha256:%s -->", page, original, hash)
	case m[2] != hash:
		return fmt.Errorf("%s is older than its original: translate what `git diff` shows of %s, then set the hash to %s", page, original, hash)
	}
	return nil
}

// TestTranslationsShowTheSameCode: the blocks of a page in Chinese are those of its original, in its order. So the test
// that runs the original's commands runs these.
func TestTranslationsShowTheSameCode(t *testing.T) {
	for page, original := range translations(t) {
		if err := sameCode(page, readText(t, page), original, readText(t, original)); err != nil {
			t.Error(err)
		}
	}
}

// sameCode returns an error that names the first block in which two pages differ.
func sameCode(page, text, original, present string) error {
	got, want := code.FindAllString(text, -1), code.FindAllString(present, -1)
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got):
			return fmt.Errorf("%s lacks block %d of %s:\n%s", page, i+1, original, want[i])
		case i >= len(want):
			return fmt.Errorf("%s has a block %d, which %s does not have:\n%s", page, i+1, original, got[i])
		case strings.TrimLeft(got[i], "\n") != strings.TrimLeft(want[i], "\n"):
			return fmt.Errorf("%s: block %d differs from that of %s:\n%s\nwant:\n%s", page, i+1, original, got[i], want[i])
		}
	}
	return nil
}

// TestPagesAreTranslated: each page of start, guides and concepts has one in Chinese.
func TestPagesAreTranslated(t *testing.T) {
	done := translations(t)
	for _, page := range files(t, ".md") {
		name, ok := strings.CutPrefix(page, "docs/")
		section, _, _ := strings.Cut(name, "/")
		if ok && slices.Contains([]string{"start", "guides", "concepts"}, section) && done[translated+name] == "" {
			t.Errorf("%s has no page in Chinese: translate it to %s", page, translated+name)
		}
	}
}

// TestTranslationsAreIndexed: the index in Chinese links once to each page in Chinese; README.md and the index in
// English link to it.
func TestTranslationsAreIndexed(t *testing.T) {
	text := readText(t, translatedHome)
	for page := range translations(t) {
		name := strings.TrimPrefix(page, translated)
		if links := strings.Count(text, "]("+name+")"); links != 1 {
			t.Errorf("%s has %d links to %s, want 1", translatedHome, links, name)
		}
	}
	for page, link := range map[string]string{"README.md": translatedHome, index: "zh/README.md"} {
		if !strings.Contains(readText(t, page), "[中文文档]("+link+")") {
			t.Errorf("%s does not link to [中文文档](%s)", page, link)
		}
	}
}

// pageLink is a link to a page of this repository, with the part of the page that it names.
var pageLink = regexp.MustCompile(`\]\(([^)#\s:]*\.md)?(#[^)\s]+)?\)`)

// TestTranslationsLinkToTranslations: a page in Chinese leads to others in Chinese, if there are any, and the part of a
// page that a link names is there.
func TestTranslationsLinkToTranslations(t *testing.T) {
	done := translations(t)
	for page := range done {
		text := code.ReplaceAllString(readText(t, page), "")
		for _, m := range pageLink.FindAllStringSubmatch(text, -1) {
			target := page
			if m[1] != "" {
				target = path.Join(path.Dir(page), m[1])
			}
			name, isDoc := strings.CutPrefix(target, "docs/")
			if isDoc && done[translated+name] != "" {
				t.Errorf("%s links to %s: link to %s", page, target, translated+name)
			}
			if m[2] != "" && !hasPart(t, target, m[2]) {
				t.Errorf("%s links to %s of %s, which has no such heading", page, m[2], target)
			}
		}
	}
}

var (
	headings   = regexp.MustCompile(`(?m)^#+ +(.*?) *$`)
	noFragment = regexp.MustCompile(`[^\p{L}\p{N}\p{M} _-]`)
)

// hasPart reports whether a page has the heading that a fragment names, in the way of code hosts: in lower case,
// without punctuation, with hyphens for spaces.
func hasPart(t *testing.T, page, fragment string) bool {
	t.Helper()
	text := code.ReplaceAllString(readText(t, page), "")
	return slices.ContainsFunc(headings.FindAllStringSubmatch(text, -1), func(m []string) bool {
		name := noFragment.ReplaceAllString(strings.ToLower(m[1]), "")
		return "#"+strings.ReplaceAll(name, " ", "-") == fragment
	})
}

// chinese are words that pages in Chinese do not use, with the term of Kubernetes' documentation that stands for each.
var chinese = map[string]string{
	"协调循环": "调谐循环", "协调器": "调谐器", "自定义资源": "定制资源", "命名空间": "名字空间", "垃圾回收": "垃圾收集",
	"终结器": "Finalizer", "所有者引用": "属主引用", "持久卷声明": "持久卷申领",
}

// TestTranslationsUseTerms: pages in Chinese use the terms that readers know from Kubernetes' documentation.
func TestTranslationsUseTerms(t *testing.T) {
	for _, page := range files(t, ".md") {
		if !strings.HasPrefix(page, translated) {
			continue
		}
		text := code.ReplaceAllString(readText(t, page), "")
		for word, term := range chinese {
			if strings.Contains(text, word) {
				t.Errorf("%s: use %s for %s", page, term, word)
			}
		}
	}
}

// TestTranslationChecks: the checks find what they are for.
func TestTranslationChecks(t *testing.T) {
	const english = "# Title\n\n```sh\nslipway version\n```\n"
	comment := fmt.Sprintf("<!-- translation of docs/a.md at sha256:%x -->\n", sha256.Sum256([]byte(english)))
	for name, test := range map[string]struct {
		text, present    string
		follows, codeFit bool
	}{
		"fits":          {"# 标题\n" + comment + "\n```sh\nslipway version\n```\n", english, true, true},
		"started":       {"<!-- start: project -->\n# 标题\n\n" + comment + "\n```sh\nslipway version\n```\n", english, true, true},
		"no comment":    {"# 标题\n\n```sh\nslipway version\n```\n", english, false, true},
		"older":         {"# 标题\n" + comment + "\n```sh\nslipway version\n```\n", english + "More.\n", false, true},
		"other command": {"# 标题\n" + comment + "\n```sh\nslipway help\n```\n", english, true, false},
		"other mark":    {"# 标题\n" + comment + "\n```text\nslipway version\n```\n", english, true, false},
		"block lacks":   {"# 标题\n" + comment, english, true, false},
		"block more":    {"# 标题\n" + comment + "\n```sh\nslipway version\n```\n\n```sh\nls\n```\n", english, true, false},
	} {
		if err := follows("docs/zh/a.md", test.text, "docs/a.md", test.present); (err == nil) != test.follows {
			t.Errorf("%s: follows: %v", name, err)
		}
		if err := sameCode("docs/zh/a.md", test.text, "docs/a.md", test.present); (err == nil) != test.codeFit {
			t.Errorf("%s: same code: %v", name, err)
		}
	}
}
