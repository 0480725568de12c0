package apply

import "slices"

// setters write the methods that set the fields of a type, which may be that of an embedded field. Made are the fields
// that have one.
func (c *config) setters(t *typ, in *field, made *[]string) {
	if c.tooDeep(in) {
		return
	}
	for _, f := range c.fields(t, in) {
		if slices.Contains(*made, f.name) {
			continue
		}
		*made = append(*made, f.name)
		if !f.embedded {
			c.setter(f)
			continue
		}
		c.setters(f.typ, f, made)
		if !f.tag.inline {
			c.ensureEmbedded(f)
		}
	}
}

// tooDeep reports whether fields are embedded in each other without an end.
func (c *config) tooDeep(f *field) bool {
	depth := 0
	for ; f != nil; f = f.in {
		depth++
	}
	if depth > maxDepth {
		c.refuse("a type that embeds itself")
	}
	return depth > maxDepth
}

func (c *config) setter(f *field) {
	argument := c.argument(f)
	switch list := f.typ.pointed(); {
	case list.kind == listKind && list.pkg == "" && c.world.isConfigured(list.elem):
		c.appender(f, &typ{kind: pointerKind, elem: f.of.elem})
	case f.typ.kind == listKind:
		c.appender(f, argument.elem)
	case f.typ.kind == mapKind:
		c.putter(f)
	default:
		c.assigner(f, argument)
	}
}

// path is the field of b.
func (c *config) path(f *field) string {
	if f.in == nil {
		return "b." + f.name
	}
	if !c.world.isConfigured(f.in.typ) && !c.Form.Foreign {
		c.refuse("an inlined " + f.in.name + ", which has no configuration")
	}
	return "b." + f.in.of.name + "." + f.name
}

// method writes the head of a method of the configuration, and what makes the struct that the field is in.
func (c *config) method(f *field, name, parameters, result string) {
	c.write("func (b *", c.config, ") ", name, "(", parameters, ") ", result, " {\n")
	if f.in != nil && !f.in.tag.inline {
		c.write("\tb.ensure", c.embeddedName(f.in), "Exists()\n")
	}
}

// embeddedName is the name of the configuration that is embedded as a field.
func (c *config) embeddedName(f *field) string {
	if !c.world.isConfigured(f.typ) {
		c.refuse("an embedded " + f.name + ", which has a name in JSON and no configuration")
		return ""
	}
	return public(f.of.name)
}

func (c *config) assigner(f *field, argument *typ) {
	c.write("\n// With", f.name, " sets the ", f.name, " field in the declarative configuration to the given value\n",
		"// and returns the receiver, so that objects can be built by chaining \"With\" function invocations.\n",
		"// If called multiple times, the ", f.name, " field is set to the value of the last call.\n")
	c.method(f, "With"+f.name, "value "+c.names.typ(argument), "*"+c.config)
	value := "&value"
	if c.world.isConfigured(f.typ) || f.typ.isNillable() {
		value = "value"
	}
	c.write("\t", c.path(f), " = ", value, "\n\treturn b\n}\n")
}

// appender writes the method that adds to a list, which the field may point to.
func (c *config) appender(f *field, argument *typ) {
	pointer := f.typ.kind == pointerKind
	if pointer {
		c.ensureList(f)
	}
	c.write("\n// With", f.name, " adds the given value to the ", f.name, " field in the declarative configuration\n",
		"// and returns the receiver, so that objects can be build by chaining \"With\" function invocations.\n",
		"// If called multiple times, values provided by each call will be appended to the ", f.name, " field.\n")
	c.method(f, "With"+f.name, "values ..."+c.names.typ(argument), "*"+c.config)
	if pointer {
		c.write("\tb.ensure", c.listName(f), "Exists()\n")
	}
	c.write("\tfor i := range values {\n")
	value, list := "values[i]", c.path(f)
	if argument.kind == pointerKind {
		c.write("\t\tif values[i] == nil {\n\t\t\tpanic(\"nil value passed to With", f.name, "\")\n\t\t}\n")
		value = "*values[i]"
	}
	if pointer {
		list = "*" + list
	}
	c.write("\t\t", list, " = append(", list, ", ", value, ")\n\t}\n\treturn b\n}\n")
}

func (c *config) putter(f *field) {
	c.write("\n// With", f.name, " puts the entries into the ", f.name, " field in the declarative configuration\n",
		"// and returns the receiver, so that objects can be build by chaining \"With\" function invocations.\n",
		"// If called multiple times, the entries provided by each call will be put on the ", f.name, " field,\n",
		"// overwriting an existing map entries in ", f.name, " field with the same key.\n")
	c.method(f, "With"+f.name, "entries "+c.names.typ(f.of), "*"+c.config)
	path := c.path(f)
	c.write("\tif ", path, " == nil && len(entries) > 0 {\n",
		"\t\t", path, " = make(", c.names.typ(f.of), ", len(entries))\n\t}\n",
		"\tfor k, v := range entries {\n\t\t", path, "[k] = v\n\t}\n\treturn b\n}\n")
}

// ensureEmbedded writes the method that makes an embedded struct.
func (c *config) ensureEmbedded(f *field) {
	name := c.embeddedName(f)
	c.write("\nfunc (b *", c.config, ") ensure", name, "Exists() {\n\tif b.", name, " == nil {\n",
		"\t\tb.", name, " = &", c.names.typ(f.of), "{}\n\t}\n}\n")
}

// ensureList writes the method that makes the list that a field points to.
func (c *config) ensureList(f *field) {
	c.write("\nfunc (b *", c.config, ") ensure", c.listName(f), "Exists() {\n\tif b.", f.name, " == nil {\n",
		"\t\tb.", f.name, " = &[]", c.names.typ(f.of.elem), "{}\n\t}\n}\n")
}

// listName is what the elements of a list are called.
func (c *config) listName(f *field) string {
	name, t := "", f.of.elem
	for range maxDepth {
		if t.kind != pointerKind || t.pkg != "" {
			break
		}
		name, t = name+"Pointer", t.elem
	}
	return name + public(t.name)
}

// getters write the methods that get what identifies an object.
func (c *config) getters(t *typ, in *field) {
	if c.tooDeep(in) {
		return
	}
	for _, f := range c.fields(t, in) {
		switch {
		case f.embedded:
			c.getters(f.typ, f)
		case t.isObjectMeta() && (f.name == "Name" || f.name == "Namespace" && c.Form.Marked),
			t.isTypeMeta() && c.Form.Marked && (f.name == "Kind" || f.name == "APIVersion"):
			c.write("\n// Get", f.name, " retrieves the value of the ", f.name, " field in the declarative configuration.\n")
			c.method(f, "Get"+f.name, "", "*"+c.names.typ(f.of))
			c.write("\treturn ", c.path(f), "\n}\n")
		}
	}
}
