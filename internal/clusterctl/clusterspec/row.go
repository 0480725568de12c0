package clusterspec

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// row completes an option whose value is a T. How the value merges and differs follows from T, by its rules. A text of
// the flag sets the value or is added to it. Read may be nil if the option is only for flags.
func row[T any](o Option, in field[T], by rules[T], parse func(*T, string) error, read func(r *reader, n *yaml.Node, at string) T) Option {
	o.parse = func(s *Spec, texts []string) error {
		var value T
		if o.commas {
			texts = slices.DeleteFunc(strings.Split(strings.Join(texts, ","), ","), func(text string) bool { return text == "" })
		}
		for _, text := range texts {
			if err := parse(&value, text); err != nil {
				return err
			}
		}
		in.set(value, s)
		return nil
	}
	if read != nil {
		o.read = func(r *reader, n *yaml.Node, at string, s *Spec) { in.set(read(r, n, at), s) }
	}
	if o.unset == nil {
		o.unset = fixed("the default")
	}
	o.merge = func(s *Spec, base Spec) { in.set(by.merge(in.get(*s), in.get(base)), s) }
	o.texts = func(s Spec) map[string]string { return by.texts(in.get(s)) }
	return o
}

// A field is where a value is in a [Spec].
type field[T any] struct {
	get func(Spec) T
	set func(T, *Spec)
}

// at is one field of the struct.
func at[T any](place func(*Spec) *T) field[T] {
	return field[T]{func(s Spec) T { return *place(&s) }, func(value T, s *Spec) { *place(s) = value }}
}

// rules are those of a type of values.
type rules[T any] struct {
	merge func(asked, base T) T
	texts func(T) map[string]string // see [Option]
}

// one is for values that are taken as a whole; zero asks for nothing.
func one[T comparable](text func(T) string) rules[T] {
	return rules[T]{func(asked, base T) T { return cmp.Or(asked, base) }, func(value T) map[string]string {
		if value == *new(T) {
			return nil
		}
		return map[string]string{"": text(value)}
	}}
}

func plain[T any](value T) string { return fmt.Sprint(value) }

func pointed[T any](value *T) string { return fmt.Sprint(*value) }

// none describes an empty list.
const none = "none"

// list is for lists that are taken as a whole; nil asks for nothing.
func list[T any](text func(T) string, separator string) rules[[]T] {
	return rules[[]T]{func(asked, base []T) []T {
		if asked == nil {
			return base
		}
		return asked
	}, func(values []T) map[string]string {
		if values == nil {
			return nil
		}
		var all []string
		for _, value := range values {
			all = append(all, text(value))
		}
		return map[string]string{"": cmp.Or(strings.Join(all, separator), none)}
	}}
}

// entries is for maps, which add up.
func entries[V any]() rules[map[string]V] {
	return rules[map[string]V]{func(asked, base map[string]V) map[string]V {
		if len(base) == 0 {
			return asked
		}
		sum := maps.Clone(base)
		maps.Copy(sum, asked)
		return sum
	}, func(values map[string]V) map[string]string {
		texts := map[string]string{}
		for key, value := range values {
			texts[key] = fmt.Sprint(value)
		}
		return texts
	}}
}

// serverFlags is for flags of the API server, which add up by their names.
func serverFlags() rules[[]string] {
	return rules[[]string]{func(asked, base []string) []string {
		replaced := flagsByName(asked)
		kept := slices.DeleteFunc(slices.Clone(base), func(flag string) bool {
			_, again := replaced[flagName(flag)]
			return again
		})
		return append(kept, asked...)
	}, flagsByName}
}

// Merge returns what asked asks for and, where it asks for nothing, base does.
func Merge(asked, base Spec) Spec {
	for _, o := range Options() {
		o.merge(&asked, base)
	}
	return asked
}

// Resume returns what is asked for of a cluster that was last asked to be like last. If asked is the whole description
// of the cluster, last counts only for options of which any value will do. Options that the nodes leave without effect
// now are not taken from last.
func Resume(asked, last Spec, whole bool) Spec {
	for _, o := range Options() {
		if (!whole || o.keepsRunningValue) && o.needs.isMet(asked) {
			o.merge(&asked, last)
		}
	}
	return asked
}

// Differences lists what asked asks for and a cluster does not have. If asked is the whole description of the cluster,
// what it does not ask for is to have its default.
func Differences(asked, has Spec, whole bool) []string {
	var lines []string
	for _, o := range Options() {
		keys := slices.Collect(maps.Keys(o.texts(asked)))
		if whole && !o.keepsRunningValue {
			keys = slices.AppendSeq(keys, maps.Keys(o.texts(has)))
		}
		slices.Sort(keys)
		for _, key := range slices.Compact(keys) {
			if want, is := o.textOf(asked, key), o.textOf(has, key); want != is {
				lines = append(lines, fmt.Sprintf("%s: requested %s, the cluster has %s", strings.TrimSpace("--"+o.Flag+" "+key), want, is))
			}
		}
	}
	return lines
}

// textOf describes an entry of the option in s.
func (o Option) textOf(s Spec, key string) string {
	if text, ok := o.texts(s)[key]; ok {
		return text
	}
	return o.unset(s)
}
