package deepcopy

import (
	"fmt"
	"go/token"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/generate/edition"
	"github.com/slipway-dev/slipway/internal/generate/internal/load"
	"github.com/slipway-dev/slipway/internal/report"
)

// copier writes the methods of one declaration after the other.
//
// Inside the copying code `in` and `out` are pointers to the value that is
// copied and to its copy, at every depth: an inner block declares them anew.
type copier struct {
	printer
	imports  *imports
	shallow  *shallow
	decl     *load.TypeDecl
	open     []*load.TypeDecl // whose form is being written out; nil for types without a name
	at       token.Pos        // what is copied now, for findings
	findings []report.Finding
}

// value writes code that copies *in to *out, both of type t. Memory for it is
// made with the type's name as the user wrote it.
func (c *copier) value(t *load.Type, name func() string) {
	under := t.Underlying()
	if own := methodsOf(t); under.Kind != load.Pointer && own.any() {
		c.needs(t, own.copies)
		c.line("*out = in.DeepCopy()")
		return
	}
	if !c.enter(t) {
		c.report(describe(t)+" contains itself without a struct in between, or is nested too deeply", c.byHand())
		return
	}
	defer c.leave()
	switch under.Kind {
	case load.Basic:
		c.basic(t)
	case load.Map:
		c.mapOf(under, name)
	case load.Slice:
		c.sliceOf(under, name)
	case load.Struct:
		c.structOf(under)
	case load.Pointer:
		c.pointerTo(under.Elem)
	default:
		c.refuse(t)
	}
}

// enter notes that the form of t is written out now. It refuses to do so within
// itself, which would have no end; instances of a generic type may be nested.
func (c *copier) enter(t *load.Type) bool {
	endless := t.Decl != nil && !t.Decl.IsGeneric() && slices.Contains(c.open, t.Decl)
	if endless || len(c.open) > maxDepth {
		return false
	}
	c.open = append(c.open, t.Decl)
	return true
}

func (c *copier) leave() { c.open = c.open[:len(c.open)-1] }

// element is value for a type that is named as it is.
func (c *copier) element(t *load.Type) {
	c.value(t, func() string { return c.name(t) })
}

func (c *copier) basic(t *load.Type) {
	if !c.shallow.holds(t.Underlying()) {
		c.refuse(t)
		return
	}
	c.line("*out = *in")
}

func (c *copier) mapOf(m *load.Type, name func() string) {
	if !c.shallow.holds(m.Key) {
		c.report(fmt.Sprintf("the key of this map is %s, which assignment does not copy", describe(m.Key.Underlying())), c.byHand())
		return
	}
	c.line("*out = make(%s, len(*in))", name())
	c.block("for key, val := range *in", func() { c.mapValue(m.Elem) })
}

func (c *copier) mapValue(t *load.Type) {
	own := methodsOf(t)
	under := t.Underlying()
	switch {
	case own.any():
		c.mapValueByMethod(t, own)
	case c.shallow.holds(t):
		c.line("(*out)[key] = val")
	case isReference(under):
		c.line("var outVal %s", c.name(under))
		c.line("if val == nil {")
		c.line("\t(*out)[key] = nil")
		c.block("} else", func() {
			c.line("inVal := (*in)[key]")
			c.line("in, out := &inVal, &outVal")
			c.element(t)
		})
		c.line("(*out)[key] = outVal")
	case under.Kind == load.Struct:
		c.needs(t, false)
		c.line("(*out)[key] = *val.DeepCopy()")
	default:
		c.refuse(t)
	}
}

func (c *copier) mapValueByMethod(t *load.Type, own methods) {
	c.needs(t, own.copies)
	isPointer := t.Kind == load.Pointer
	switch {
	case own.yieldsPointer(t) == isPointer:
		c.line("(*out)[key] = val.DeepCopy()")
	case isPointer:
		c.scope(func() {
			c.line("x := val.DeepCopy()")
			c.line("(*out)[key] = &x")
		})
	default:
		c.line("(*out)[key] = *val.DeepCopy()")
	}
}

func (c *copier) sliceOf(s *load.Type, name func() string) {
	c.line("*out = make(%s, len(*in))", name())
	under := s.Elem.Underlying()
	switch {
	case methodsOf(s.Elem).any():
		c.eachByMethod(s.Elem)
	case c.shallow.holds(under):
		c.line("copy(*out, *in)")
	case isReference(under):
		c.block("for i := range *in", func() {
			c.block("if (*in)[i] != nil", func() {
				c.line("in, out := &(*in)[i], &(*out)[i]")
				c.element(s.Elem)
			})
		})
	case under.Kind == load.Struct:
		c.eachByMethod(s.Elem)
	default:
		c.refuse(s.Elem)
	}
}

func (c *copier) eachByMethod(t *load.Type) {
	c.needs(t, methodsOf(t).copyInto)
	c.block("for i := range *in", func() { c.line("(*in)[i].DeepCopyInto(&(*out)[i])") })
}

func (c *copier) structOf(s *load.Type) {
	c.line("*out = *in")
	around, names := c.at, make(map[string]bool)
	for _, f := range s.StructFields() {
		if names[f.Name] && f.Name != "_" {
			continue // the compiler tells that there are two
		}
		names[f.Name] = true
		if f.Syntax != nil && c.isHere(f.Syntax.Pos()) {
			c.at = f.Syntax.Pos()
		}
		c.field(f)
	}
	c.at = around
}

// isHere reports whether pos is within the declaration, where its user can
// change it, and not within that of another type of whose form it is.
func (c *copier) isHere(pos token.Pos) bool {
	return c.decl.Spec.Pos() <= pos && pos < c.decl.Spec.End()
}

func (c *copier) field(f load.StructField) {
	own := methodsOf(f.Type)
	under := f.Type.Underlying()
	switch {
	case own.any() && f.Type.Kind != load.Pointer:
		if own.yieldsPointer(f.Type) {
			c.fieldInto(f)
		} else {
			c.needs(f.Type, own.copies)
			c.line("out.%[1]s = in.%[1]s.DeepCopy()", f.Name)
		}
	case own.any(), isReference(under):
		c.block(fmt.Sprintf("if in.%s != nil", f.Name), func() {
			c.line("in, out := &in.%[1]s, &out.%[1]s", f.Name)
			c.element(f.Type)
		})
	case under.Kind == load.Basic && c.shallow.holds(under): // *out = *in has copied it
	case under.Kind != load.Struct:
		c.refuse(f.Type)
	case c.shallow.holds(f.Type):
		c.line("out.%[1]s = in.%[1]s", f.Name)
	default:
		c.fieldInto(f)
	}
}

func (c *copier) fieldInto(f load.StructField) {
	c.needs(f.Type, methodsOf(f.Type).copyInto)
	c.line("in.%[1]s.DeepCopyInto(&out.%[1]s)", f.Name)
}

// pointerTo copies what a pointer that is not nil points to.
func (c *copier) pointerTo(t *load.Type) {
	own := methodsOf(t)
	under := t.Underlying()
	switch {
	case own.any() && own.yieldsPointer(t):
		c.needs(t, own.copies)
		c.line("*out = (*in).DeepCopy()")
	case own.any():
		c.needs(t, own.copies)
		c.line("x := (*in).DeepCopy()")
		c.line("*out = &x")
	case c.shallow.holds(under):
		c.line("*out = new(%s)", c.name(t))
		c.line("**out = **in")
	case isReference(under):
		if !c.edition().NamedPointers {
			t = under
		}
		c.line("*out = new(%s)", c.name(t))
		c.block("if **in != nil", func() {
			c.line("in, out := *in, *out")
			c.element(t)
		})
	case under.Kind == load.Struct:
		c.needs(t, own.copyInto)
		c.line("*out = new(%s)", c.name(t))
		c.line("(*in).DeepCopyInto(*out)")
	default:
		c.refuse(t)
	}
}

// edition is what methods depend on.
func (c *copier) edition() *edition.Copies { return &c.decl.Package.Loader().Edition().Copies }

// name is t as the generated file writes it.
func (c *copier) name(t *load.Type) string {
	switch t.Kind {
	case load.Named, load.Alias:
		if t.Kind == load.Alias && !c.edition().Aliases {
			c.report(describe(t)+" is an alias, which controller-gen "+c.decl.Package.Loader().Edition().Version+" cannot name", c.byHand())
		}
		name := t.Decl.Name()
		if t.Decl.Package != c.decl.Package {
			name = c.imports.name(t.Decl.Package.Path) + "." + name
		}
		return name + c.arguments(t)
	case load.Basic:
		return t.Name
	case load.Pointer:
		return "*" + c.name(t.Elem)
	case load.Slice:
		return "[]" + c.name(t.Elem)
	case load.Map:
		return "map[" + c.name(t.Key) + "]" + c.name(t.Elem)
	}
	c.refuse(t)
	return "any"
}

// arguments are the type arguments behind the name of a generic type, which controller-gen leaves out: then nothing
// compiles.
func (c *copier) arguments(t *load.Type) string {
	var names []string
	for _, argument := range t.Arguments(c.decl.Package) {
		names = append(names, c.name(argument))
	}
	if len(names) == 0 {
		return ""
	}
	return "[" + strings.Join(names, ", ") + "]"
}

// needs reports a generic type that lacks a method which is called: none are generated for its instances.
func (c *copier) needs(t *load.Type, has bool) {
	if decl := receiverOf(t).Decl; !has && decl != nil && decl.IsGeneric() {
		c.report(decl.Name()+" is generic, and methods of generic types are not generated", "write DeepCopy and DeepCopyInto for "+decl.Name()+", or mark "+c.decl.Name()+" with +"+generateMarker+"=false")
	}
}

// refuse reports that no copy of a t is known to be deep.
func (c *copier) refuse(t *load.Type) {
	u := t.Underlying()
	suggestion := c.byHand()
	if u.Kind == load.Invalid {
		suggestion = "check the type's spelling and its import; go get adds a missing module"
	}
	c.report(fmt.Sprintf("%s has no deep copy", describe(u)), suggestion)
}

// byHand suggests what helps where no deep copy can be generated.
func (c *copier) byHand() string {
	return "give the type a DeepCopy method, or mark " + c.decl.Name() + " with +" + generateMarker + "=false"
}

func (c *copier) report(message, suggestion string) {
	finding := report.Finding{
		Rule:       report.RuleDeepCopy,
		Position:   c.decl.File.Position(c.at),
		Message:    "DeepCopy of " + c.decl.Name() + ": " + message,
		Suggestion: suggestion,
		Fatal:      true,
	}
	if !slices.Contains(c.findings, finding) {
		c.findings = append(c.findings, finding)
	}
}
