package edition

// first is the edition of [Oldest].
func first() Edition {
	return Edition{
		later:  make(map[Word]string),
		Syntax: Syntax{Digits: true, Colons: true, Groups: true, Plain: true},
		Schemas: Schemas{
			Optional:         []string{"omitempty"},
			PlainDocs:        true,
			TCP:              true,
			RepeatedPointers: true,
		},
	}
}

// change is something that a version of controller-gen was the first to do.
type change struct {
	since string         // the version
	where string         // its change in kubernetes-sigs/controller-tools
	what  string         // continues "since then, …"
	words []Word         // what it knows besides
	set   func(*Edition) // what it does otherwise; nil where it only knows more words
}

// table has all changes, in the order of their versions.
var table = []change{
	{since: "v0.15.0", where: "#898", what: "markers can be about the items of a list", words: markers("kubebuilder:validation:items:*")},
	{since: "v0.15.0", where: "#912", what: "a definition can have preserveUnknownFields", words: arguments("crd", "deprecatedV1beta1CompatibilityPreserveUnknownFields")},
	{since: "v0.15.0", where: "#927", what: "a rule's message can be an expression", words: rule("messageExpression")},

	{since: "v0.16.0", where: "#998", what: "rules of a field and of its type are one list", set: func(e *Edition) { e.Schemas.JoinRules = true }},
	{since: "v0.16.0", where: "#944", what: "+required is known, and markers win over the tag", words: on("field", "required"),
		set: func(e *Edition) { e.Schemas.RequiredWins = true }},
	{since: "v0.16.0", where: "#938", what: "+default is known", words: on("field", "default")},
	{since: "v0.16.0", where: "#932", what: "a rule can have a reason and a field", words: rule("reason", "fieldPath")},
	{since: "v0.16.0", where: "#877", what: "descriptions leave out TODO and what follows ---, and a paragraph ends with one empty line", set: func(e *Edition) { e.Schemas.PlainDocs = false }},
	{since: "v0.16.0", where: "#1000", what: "a group can be empty", set: func(e *Edition) { e.Syntax.Groups = false }},
	{since: "v0.16.0", where: "#937", what: "rules of roles are merged by resources and groups", set: func(e *Edition) {
		e.Roles.Split, e.Roles.Merged = true, []string{"resources", "groups"}
	}},

	{since: "v0.16.1", where: "#1035", what: "corev1.Protocol has no default of its own", set: func(e *Edition) { e.Schemas.TCP = false }},

	{since: "v0.16.2", where: "#1044, #1045", what: "rules of roles keep URLs and are merged by them, and core is the empty group", set: func(e *Edition) {
		e.Roles.KeepURLs, e.Roles.CoreFirst = true, true
		e.Roles.Merged = append(e.Roles.Merged, "urls")
	}},

	{since: "v0.16.3", where: "#1002", what: "a marker names the configuration of webhooks", words: on("package", "kubebuilder:webhookconfiguration")},

	{since: "v0.16.4", where: "#1050", what: "fields can be selectable", words: on("type", "kubebuilder:selectablefield")},

	{since: "v0.16.5", where: "#1080", what: "the items of a list can have an enum", set: func(e *Edition) { e.Schemas.ItemsLists = true }},
	{since: "v0.16.5", where: "#1078", what: "an alias of a basic type has its markers", set: func(e *Edition) { e.Schemas.AliasedBasics = true }},

	{since: "v0.17.0", where: "go 1.23 in go.mod", what: "go/types knows aliases, and schemas see through one", set: func(e *Edition) {
		e.Types.Aliases, e.Schemas.AliasForms = true, true
	}},
	{since: "v0.17.0", where: "#1015", what: "a type that marshals itself to text is a string", set: func(e *Edition) { e.Schemas.MarshalText = true }},
	{since: "v0.17.0", where: "#1006", what: "descriptions are cut after a word", set: func(e *Edition) { e.Schemas.CutAtWords = true }},
	{since: "v0.17.0", where: "issue #1077", what: "the verb * stands for all others", set: func(e *Edition) { e.Roles.AnyVerb = true }},

	{since: "v0.17.1", where: "#1122", what: "an alias stands for the type that it names", set: func(e *Edition) { e.Schemas.AliasForms = false }},

	{since: "v0.17.2", where: "#1118", what: "what may be an integer or a string has bounds of its length", set: func(e *Edition) { e.Schemas.BoundedIntOrString = true }},
	{since: "v0.17.2", where: "#1119, #1145", what: "DeepCopy methods name aliases, and types that are pointers can have them", set: func(e *Edition) { e.Copies.Aliases, e.Copies.PointerTypes = true, true }},
	{since: "v0.17.2", where: "#1128", what: "a webhook can name its service", words: arguments("kubebuilder:webhook", "serviceName", "serviceNamespace", "servicePort")},

	{since: "v0.17.3", where: "#1150", what: "a rule can do without an old value", words: rule("optionalOldSelf")},

	{since: "v0.18.0", where: "#1175", what: "fields can have a title", words: on("field", "kubebuilder:title")},
	{since: "v0.18.0", where: "#818", what: "apply configurations are generated", words: append(markers("kubebuilder:ac:*"), Word{Name: "applyconfiguration"}),
		set: func(e *Edition) { e.Apply.Generators = "v0.33.0" }},
	{since: "v0.18.0", where: "#1169", what: "the file of roles can have a name", words: arguments("rbac", "fileName")},

	{since: "v0.19.0", where: "#1212", what: "at most one of several fields can be set, or exactly one", words: on("type", "kubebuilder:validation:AtMostOneOf", "kubebuilder:validation:ExactlyOneOf"),
		set: func(e *Edition) {
			e.Schemas.AtMostOne = counted("[%s].filter(x,x==true).size() <= 1")
			e.Schemas.ExactlyOne = counted("[%s].filter(x,x==true).size() == 1")
		}},
	{since: "v0.19.0", where: "#1218, #1221", what: "apply configurations need a group", set: func(e *Edition) {
		e.Apply.Generators, e.Apply.Group = "v0.34.0", true
	}},
	{since: "v0.19.0", where: "#1218", what: "packages without a group have definitions", set: func(e *Edition) { e.Schemas.Grouped = true }},

	{since: "v0.20.0", where: "#1278", what: "at least one of several fields can be asked for", words: on("type", "kubebuilder:validation:AtLeastOneOf"),
		set: func(e *Edition) { e.Schemas.AtLeastOne = counted("[%s].filter(x,x==true).size() >= 1") }},
	{since: "v0.20.0", where: "#1247", what: "+k8s:required and +k8s:optional are known", words: on("field", "k8s:required", "k8s:optional")},
	{since: "v0.20.0", where: "#1282", what: "types can have a title", words: on("type", "kubebuilder:title")},
	{since: "v0.20.0", where: "#1295", what: "webhooks of all packages are in order", set: func(e *Edition) { e.Webhooks.Sorted = true }},
	{since: "v0.20.0", where: "#1310", what: "markers know strings and numbers by the names of their types", set: func(e *Edition) { e.Schemas.NamedBasics = true }},
	{since: "v0.20.0", where: "#1270", what: "markers of a declared pointer count once", set: func(e *Edition) { e.Schemas.RepeatedPointers = false }},
	{since: "v0.20.0", where: "#1299", what: "required fields are in order", set: func(e *Edition) { e.Schemas.SortedRequired = true }},
	{since: "v0.20.0", where: "go.mod", what: "code-generator is newer", set: func(e *Edition) { e.Apply.Generators = "v0.35.0" }},

	{since: "v0.20.1", where: "#1331", what: "DeepCopy methods name the type behind a pointer", set: func(e *Edition) { e.Copies.NamedPointers = true }},

	{since: "v0.21.0", where: "#1370", what: "the enum of a type stays where its field has one", set: func(e *Edition) { e.Schemas.KeepEnum = true }},
	{since: "v0.21.0", where: "#1335", what: "documentation elsewhere can be named", words: markers("kubebuilder:externalDocs")},
	{since: "v0.21.0", where: "#1352, #1354", what: "+k8s:immutable and +k8s:enum are known", words: markers("k8s:immutable", "k8s:enum")},
	{since: "v0.21.0", where: "#1334", what: "a permission can name its role", words: arguments("kubebuilder:rbac", "roleName")},
	{since: "v0.21.0", where: "#1327, #1347", what: "apply configurations know other packages', the scope and the structure of types",
		words: arguments("applyconfiguration", "externalApplyConfigurations"), set: func(e *Edition) {
			e.Apply.Generators, e.Apply.Scope, e.Apply.Structure, e.Apply.Kinds = "v0.36.0", true, true, true
		}},

	{since: "v0.22.0", where: "issues #1186, #1306", what: "omitzero makes a field optional", set: func(e *Edition) { e.Schemas.Optional = append(e.Schemas.Optional, "omitzero") }},
	{since: "v0.22.0", where: "#1398", what: "equal bounds of properties are kept", set: func(e *Edition) { e.Schemas.EqualSizes = true }},
	{since: "v0.22.0", where: "#1357, #1470", what: "+k8s:listType and +k8s:listMapKey are known, and a key counts once", words: markers("k8s:listType", "k8s:listMapKey"),
		set: func(e *Edition) { e.Schemas.KeysOnce = true }},
	{since: "v0.22.0", where: "#1408", what: "rules about several fields need no lists", set: func(e *Edition) {
		e.Schemas.AtMostOne, e.Schemas.ExactlyOne = summed("%s <= 1"), summed("%s == 1")
		e.Schemas.AtLeastOne = Choice{Each: "has(self.%s)", Separator: "||", Rule: "%s"}
	}},
	{since: "v0.22.0", where: "#1419", what: "keys of maps can marshal themselves to text", set: func(e *Edition) { e.Schemas.TextKeys = true }},
	{since: "v0.22.0", where: "#1366", what: "a value that begins like a number can be a string, with a colon, too", set: func(e *Edition) {
		e.Syntax.Digits, e.Syntax.Colons = false, false
	}},
	{since: "v0.22.0", where: "#1339", what: "a webhook can be patched", words: arguments("kubebuilder:webhook", "patch")},
	{since: "v0.22.0", where: "go.mod", what: "code-generator is newer, and all types with apply configurations are described", set: func(e *Edition) {
		e.Apply.Generators, e.Apply.Kinds = "v0.37.0", false
	}},

	{since: "v0.23.0", where: "#1359", what: "list types and keys of a field override those of its type", set: func(e *Edition) { e.Schemas.LastList = true }},
	{since: "v0.23.0", where: "#1474", what: "+k8s:maxItems, +k8s:minimum and +k8s:maximum are known, and bounds read their numbers themselves",
		words: on("field", "k8s:maxItems", "k8s:minimum", "k8s:maximum"), set: func(e *Edition) { e.Syntax.Plain = false }},
	{since: "v0.23.0", where: "#1458", what: "+k8s:required demands content", set: func(e *Edition) { e.Schemas.FillRequired = true }},
	{since: "v0.23.0", where: "#1359", what: "markers know lists and maps by the names of their types", set: func(e *Edition) { e.Schemas.NamedLists = true }},
	{since: "v0.23.0", where: "#1437", what: "the version can be left out", words: append(arguments("crd", "omitToolVersion"), arguments("applyconfiguration", "omitToolVersion")...)},
}

// rule are arguments of the marker of a rule, also of one for the items of a list.
func rule(names ...string) []Word {
	return append(arguments("kubebuilder:validation:XValidation", names...), arguments("kubebuilder:validation:items:XValidation", names...)...)
}

// markers are known wherever they may stand.
func markers(names ...string) []Word { return on("", names...) }

// on are markers that are known at a target.
func on(target string, names ...string) []Word {
	words := make([]Word, len(names))
	for i, name := range names {
		words[i] = Word{Name: name, Target: target}
	}
	return words
}

// arguments are those of a marker, or the options of a generator.
func arguments(of string, names ...string) []Word {
	words := make([]Word, len(names))
	for i, name := range names {
		words[i] = Word{Name: of, Argument: name}
	}
	return words
}

func counted(rule string) Choice { return Choice{Each: "has(self.%s)", Separator: ",", Rule: rule} }

func summed(rule string) Choice {
	return Choice{Each: "(has(self.%s)?1:0)", Separator: "+", Rule: rule}
}
