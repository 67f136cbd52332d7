# Writes a manual page (-v page=man) or a completion for bash (-v page=bash) of a program from what its --help prints, which
# is the table of its options (driver/cli/option_help.c): option lines, their texts from column 27 on, and there the values
# of a choice, as "name  text" or as "values: name name".
#   -v name=fmo-driver -v version=0.2.0 -v date=2026-11-22 -v what="one line"

# Text for troff: backslashes, and a first character that would be a request.
function plain(text) {
    sub(/^ +/, "", text)
    gsub(/\\/, "\\e", text)
    if (text ~ /^\[.*,/) gsub(/,/, ",\\:", text) # long lists may be broken
    if (text ~ /^[.']/) text = "\\&" text
    return text
}
function dashes(text) {
    text = plain(text)
    gsub(/-/, "\\-", text)
    return text
}
function man(line) {
    if (page == "man") print line
}
function end_list() {
    if (nested) man(".RE")
    nested = 0
}

# Words of an option line: the forms of its name, and its argument.
function option(line,    form, argument, left, text) {
    end_list()
    left = line
    sub(/^ */, "", left)
    text = ""
    if (match(left, /   */)) {
        text = substr(left, RSTART + RLENGTH)
        left = substr(left, 1, RSTART - 1)
    }
    form = left
    argument = ""
    if (match(left, /\[=[A-Z]+\]$/)) argument = substr(left, RSTART + 2, RLENGTH - 3)
    else if (match(left, / [A-Z]+$/)) argument = substr(left, RSTART + 1)
    sub(/(\[=| )[A-Z]+\]?$/, "", form)
    patterns = form
    sub(/, /, " | ", patterns)
    optional = left ~ /\[=/
    if (page == "bash") {
        split(form, words, ", ")
        for (k = 1; k in words; k++) {
            options = options (options == "" ? "" : " ") words[k] (optional && words[k] ~ /^--/ ? "=" : "")
            delete words[k]
        }
        current = ++count
        case_of[current] = patterns
        argument_of[current] = argument
        values_of[current] = ""
        optional_of[current] = optional
    }
    man(".TP")
    man(".B " dashes(left))
    if (text != "") man(plain(text))
}

function value(name, text) {
    if (page == "bash") values_of[current] = values_of[current] (values_of[current] == "" ? "" : " ") name
    if (!nested) man(".RS")
    nested = 1
    man(".TP")
    man(".B " dashes(name))
    man(plain(text))
}

BEGIN {
    state = "usage"
    man(".TH " toupper(dashes(name)) " 1 " date " \"fmo " version "\" \"User Commands\"")
    man(".nh")
    man(".ad l")
    man(".SH NAME")
    man(dashes(name) " \\- " what)
    man(".SH SYNOPSIS")
}
state == "usage" && /^(Usage:|      ) / {
    sub(/^(Usage:|      ) */, "")
    if (synopsis++) man(".br")
    man(dashes($0))
    next
}
state == "usage" {
    man(".SH DESCRIPTION")
    state = "text"
}
/^$/ {
    blank = 1
    next
}
/^[A-Z][A-Za-z ]*:$/ {
    end_list()
    sub(/:$/, "")
    title = $0
    if (title == "Experiments") man(".SH EXPERIMENTS")
    else {
        if (state != "options") man(".SH OPTIONS")
        man(".SS " title)
        state = "options"
    }
    blank = 0
    next
}
/^Exit codes: / {
    end_list()
    state = "exit"
    man(".SH EXIT STATUS")
    sub(/^Exit codes: /, "")
}
/^Examples: / {
    end_list()
    state = "examples"
    man(".SH EXAMPLES")
    sub(/^Examples: /, "")
}
state == "examples" {
    sub(/^ */, "")
    if (shown++) man(".br")
    man(dashes($0))
    next
}
state == "options" && /^  +-/ && substr($0, 1, 26) !~ /^ *$/ {
    option($0)
    blank = 0
    next
}
state == "options" && substr($0, 1, 26) ~ /^ *$/ {
    line = substr($0, 27)
    if (sub(/^values: /, "", line)) {
        if (page == "bash") values_of[current] = line
        man(".br")
        man("Values: " plain(line))
    } else if (match(line, /^[^ ]+  +/)) value(substr(line, 1, index(line, " ") - 1), substr(line, RLENGTH + 1))
    else man(plain(line))
    next
}
title == "Experiments" && state == "text" && /^  [a-z]/ {
    experiment = $1
    commands = commands (commands == "" ? "" : " ") experiment
    sub(/^ +[a-z]+ +/, "")
    man(".TP")
    man(".B " dashes(experiment))
    man(plain($0))
    next
}
{
    if (state == "options" && blank) {
        end_list()
        man(".PP")
    } else if (blank && state == "text") man(".PP")
    blank = 0
    sub(/^ */, "")
    man(plain($0))
}

END {
    if (page != "bash") {
        print ".SH SEE ALSO"
        print "The documents of fmo, in its sources: docs/index.md."
        exit
    }
    under = name
    gsub(/-/, "_", under)
    print "# Completion of " name " " version " for bash, from its table of options."
    print "_" under "()\n{"
    print "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} equals= words= before="
    print "    if [[ $cur == = ]]; then"
    print "        cur= equals=1"
    print "    elif [[ $prev == = && COMP_CWORD -ge 2 ]]; then"
    print "        prev=${COMP_WORDS[COMP_CWORD-2]} equals=1"
    print "    fi"
    print "    case $prev in"
    for (k = 1; k <= count; k++) {
        if (argument_of[k] == "" || optional_of[k]) continue
        if (values_of[k] != "") print "    " case_of[k] ") words=\"" values_of[k] "\" ;;"
        else if (argument_of[k] ~ /^(FILE|NAME|DIR)$/) files = files " | " case_of[k]
        else others = others " | " case_of[k]
    }
    print "    " substr(files, 4) ") return ;; # completed by readline"
    print "    " substr(others, 4) ") compopt +o default; return ;;"
    print "    esac"
    print "    [[ $equals ]] && case $prev in"
    for (k = 1; k <= count; k++)
        if (optional_of[k]) print "    " case_of[k] ") words=\"" values_of[k] "\" ;;"
    print "    *) [[ $words ]] || return ;;"
    print "    esac"
    print "    if [[ ! $words && $cur == -* ]]; then"
    print "        words=\"" options "\""
    if (commands != "") {
        print "    elif [[ ! $words && COMP_CWORD -eq 1 ]]; then"
        print "        words=\"" commands "\""
    }
    print "    fi"
    print "    if [[ $words && $cur == *,* ]]; then # a list of values"
    print "        before=${cur%,*}, cur=${cur##*,}"
    print "    fi"
    print "    [[ $words ]] && COMPREPLY=($(compgen -P \"$before\" -W \"$words\" -- \"$cur\"))"
    print "    [[ ${COMPREPLY[0]-} == *= ]] && compopt -o nospace"
    print "    return 0"
    print "}"
    print "complete -o default -F _" under " " name
}
