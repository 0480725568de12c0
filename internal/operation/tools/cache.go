package tools

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/userdirs"
	"github.com/slipway-dev/slipway/internal/userdirs/holdings"
)

// Cache is the content of slipway's cache; the JSON form is stable.
type Cache struct {
	Folder string      `json:"folder"`
	Bytes  int64       `json:"bytes"`
	Kinds  []CacheKind `json:"kinds"`
}

// CacheKind is the content of one kind; the JSON form is stable.
type CacheKind struct {
	Name    string     `json:"name"`
	What    string     `json:"what"`
	Limit   string     `json:"limit"`
	Entries int        `json:"entries"`
	Bytes   int64      `json:"bytes"`
	LastUse *time.Time `json:"lastUse,omitempty"`
}

// ListCache reports the content of slipway's cache.
func ListCache(s *operation.Session) (Cache, error) {
	root, err := userdirs.Cache(s.Getenv)
	if err != nil {
		return Cache{}, err
	}
	cache := Cache{Folder: root, Kinds: []CacheKind{}}
	for _, kind := range holdings.Kinds() {
		use, err := kind.Measure(root)
		if err != nil {
			return Cache{}, unreadableCache(root, err)
		}
		k := CacheKind{Name: kind.Name, What: kind.What, Limit: kind.Limit, Entries: use.Entries, Bytes: use.Bytes}
		if !use.Last.IsZero() {
			last := use.Last.UTC().Truncate(time.Second)
			k.LastUse = &last
		}
		cache.Bytes += use.Bytes
		cache.Kinds = append(cache.Kinds, k)
	}
	s.Handler.Handle(report.Result{Text: cache.text(time.Now()), Value: cache})
	return cache, nil
}

func unreadableCache(root string, err error) error {
	return &report.Error{What: "cannot look at the cache", Where: root, Err: err, Hint: "a folder that you may read and write; " + userdirs.CacheVariable + " names another one"}
}

func (c Cache) text(now time.Time) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", c.Folder, operation.FormatSize(c.Bytes))
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "KIND\tENTRIES\tSIZE\tLAST USE\tKEPT")
	for _, k := range c.Kinds {
		last := "never"
		if k.LastUse != nil {
			last = age(now.Sub(*k.LastUse))
		}
		fmt.Fprintf(w, "%s\t%d\t%s\t%s\t%s\n", k.Name, k.Entries, operation.FormatSize(k.Bytes), last, k.Limit)
	}
	_ = w.Flush() // a strings.Builder does not fail
	return strings.TrimRight(b.String(), "\n")
}

const day = 24 * time.Hour

// age formats a duration such as `3 days ago`.
func age(d time.Duration) string {
	switch {
	case d < time.Minute:
		return "now"
	case d < time.Hour:
		return fmt.Sprintf("%d min ago", d/time.Minute)
	case d < 2*day:
		return fmt.Sprintf("%d h ago", d/time.Hour)
	}
	return fmt.Sprintf("%d days ago", d/day)
}

// CacheCleaning is the result of [CleanCache]; the JSON form is stable.
type CacheCleaning struct {
	Folder  string       `json:"folder"`
	DryRun  bool         `json:"dryRun"`
	Bytes   int64        `json:"bytes"`
	Removed []CacheClean `json:"removed"`
	Busy    []string     `json:"busy"` // paths that stay because they are in use
}

// CacheClean is what was removed of one kind.
type CacheClean struct {
	Name    string `json:"name"`
	Entries int    `json:"entries"`
	Bytes   int64  `json:"bytes"`
}

// CacheChoice selects what to remove from the cache.
type CacheChoice struct {
	Kinds  []string // names; empty means all
	DryRun bool
	Unused time.Duration // remove only what was not used for so long
}

// CleanCache removes content from the cache. With DryRun it only reports what it would remove.
func CleanCache(s *operation.Session, c CacheChoice) (CacheCleaning, error) {
	root, err := userdirs.Cache(s.Getenv)
	if err != nil {
		return CacheCleaning{}, err
	}
	kinds, err := cacheKinds(c.Kinds)
	if err != nil {
		return CacheCleaning{}, err
	}
	done := CacheCleaning{Folder: root, DryRun: c.DryRun, Removed: []CacheClean{}, Busy: []string{}}
	for _, kind := range kinds {
		cleaned, err := kind.Clean(root, holdings.Cleaning{DryRun: c.DryRun, Unused: c.Unused})
		if err != nil {
			return CacheCleaning{}, unreadableCache(root, err)
		}
		done.Busy = append(done.Busy, cleaned.Busy...)
		if cleaned.Entries > 0 {
			done.Bytes += cleaned.Bytes
			done.Removed = append(done.Removed, CacheClean{kind.Name, cleaned.Entries, cleaned.Bytes})
		}
	}
	for _, path := range done.Busy {
		s.Handler.Handle(report.Note{Text: path + " is in use and stays"})
	}
	s.Handler.Handle(report.Result{Text: done.text(), Value: done})
	return done, nil
}

func (c CacheCleaning) text() string {
	verb := "removed"
	if c.DryRun {
		verb = "would remove"
	}
	if len(c.Removed) == 0 {
		return "nothing to remove from " + c.Folder
	}
	var b strings.Builder
	for _, k := range c.Removed {
		fmt.Fprintf(&b, "%s %s: %d, %s\n", verb, k.Name, k.Entries, operation.FormatSize(k.Bytes))
	}
	return b.String() + operation.FormatSize(c.Bytes) + " of " + c.Folder
}

// CacheKinds returns the names of the kinds of entries that [CleanCache] can remove.
func CacheKinds() (names []string) {
	for _, kind := range holdings.Kinds() {
		names = append(names, kind.Name)
	}
	return names
}

// cacheKinds returns the kinds with these names, in the order of the cache; all if there are none.
func cacheKinds(names []string) (kinds []holdings.Kind, err error) {
	all := holdings.Kinds()
	for _, name := range names {
		i := slices.IndexFunc(all, func(k holdings.Kind) bool { return k.Name == name })
		if i < 0 {
			return nil, &report.Error{What: fmt.Sprintf("the cache has no kind %q", name), Hint: "one of " + strings.Join(CacheKinds(), ", "), Next: "slipway cache", Code: report.UsageCode}
		}
		kinds = append(kinds, all[i])
	}
	if len(names) == 0 {
		kinds = all
	}
	slices.SortStableFunc(kinds, func(a, b holdings.Kind) int { return cmp.Compare(index(all, a), index(all, b)) })
	return slices.CompactFunc(kinds, func(a, b holdings.Kind) bool { return a.Name == b.Name }), nil
}

func index(all []holdings.Kind, k holdings.Kind) int {
	return slices.IndexFunc(all, func(other holdings.Kind) bool { return other.Name == k.Name })
}
