package apply

// extractor writes the functions of one object that get from it what a manager has applied.
type extractor struct {
	*config
	variable string // for the object
	object   string // its type
	name     string // of the function for the main resource
}

// workflow is what the comments of the functions say of objects.
func (x extractor) workflow(name string) {
	x.write("// ", x.variable, " must be a unmodified ", x.public, " API object that was retrieved from the Kubernetes API.\n",
		"// ", name, " provides a way to perform a extract/modify-in-place/apply workflow.\n",
		"// Note that an extracted apply configuration will contain fewer fields than what the fieldManager previously\n",
		"// applied if another fieldManager has updated or force applied any of the previously applied fields.\n")
}

// from writes the function for any subresource.
func (x extractor) from() {
	name := x.name + "From"
	x.write("\n// ", name, " extracts the applied configuration owned by fieldManager from\n",
		"// ", x.variable, " for the specified subresource. Pass an empty string for subresource to extract\n",
		"// the main resource. Common subresources include \"status\", \"scale\", etc.\n")
	x.workflow(name)
	x.write("func ", name)
	x.extraction()
}

// extraction is the rest of a function that takes the name of a subresource.
func (x extractor) extraction() {
	x.write("(", x.variable, " *", x.object, ", fieldManager string, subresource string) (*", x.config.config, ", error) {\n",
		"\tb := &", x.config.config, "{}\n",
		"\terr := ", x.names.of(managedFields, "ExtractInto"), "(", x.variable, ", ", x.parser(), "().Type(\"", x.openAPIType(), "\"), fieldManager, b, subresource)\n",
		"\tif err != nil {\n\t\treturn nil, err\n\t}\n",
		"\tb.WithName(", x.variable, ".Name)\n")
	if !x.tags.nonNamespaced {
		x.write("\tb.WithNamespace(", x.variable, ".Namespace)\n")
	}
	x.write("\n")
	x.identify()
	x.write("\treturn b, nil\n}\n")
}

// main writes the function for the main resource.
func (x extractor) main() {
	x.mainComment()
	x.call(x.name, x.name+"From", "")
}

func (x extractor) mainComment() {
	x.write("\n// ", x.name, " extracts the applied configuration owned by fieldManager from\n",
		"// ", x.variable, ". If no managedFields are found in ", x.variable, " for fieldManager, a\n",
		"// ", x.config.config, " is returned with only the Name, Namespace (if applicable),\n",
		"// APIVersion and Kind populated. It is possible that no managed fields were found for because other\n",
		"// field managers have taken ownership of all the fields previously owned by fieldManager, or because\n",
		"// the fieldManager never owned fields any fields.\n")
	x.workflow(x.name)
}

// call writes a function that calls another one for a subresource.
func (x extractor) call(name, target, subresource string) {
	x.write("func ", name, "(", x.variable, " *", x.object, ", fieldManager string) (*", x.config.config, ", error) {\n",
		"\treturn ", target, "(", x.variable, ", fieldManager, \"", subresource, "\")\n}\n")
}

func (x extractor) subresource(subresource string) {
	name := x.name + public(subresource)
	x.write("\n// ", name, " extracts the applied configuration owned by fieldManager from\n",
		"// ", x.variable, " for the ", subresource, " subresource.\n")
	x.call(name, x.name+"From", subresource)
}

// extractStatus writes the functions of old, for the main resource and for the status.
func (c *config) extractStatus(variable, object string) {
	x := extractor{config: c, variable: variable, object: object, name: "Extract" + c.public}
	target := private(x.name)
	x.mainComment()
	x.write("// Experimental!\n")
	x.call(x.name, target, "")
	if !c.tags.noStatus {
		x.write("\n// ", x.name, "Status is the same as ", x.name, " except\n",
			"// that it extracts the status subresource applied configuration.\n// Experimental!\n")
		x.call(x.name+"Status", target, "status")
		x.write("\n")
	}
	x.write("func ", target)
	x.extraction()
}
