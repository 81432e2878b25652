#compdef fossick
# Completion of fossick for zsh: source <(fossick completion zsh), or as _fossick
# in a folder of $fpath.
_fossick() {
	local line kind= value
	local -a found plain
	for line in "${(@f)$(${words[1]} __complete "${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
		case $line in
		'') ;;
		:*) kind=$line ;;
		*$'\t'*) found+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}") ;;
		*) plain+=("$line") ;;
		esac
	done
	local -a nospace
	[[ $kind == :list ]] && nospace=(-S '')
	(( $#found )) && _describe -V value found "${nospace[@]}"
	(( $#plain )) && compadd -V value "${nospace[@]}" -- $plain
	if [[ $kind == :files || $kind == :dirs ]]; then
		compset -P '-*='
		if [[ $kind == :dirs ]]; then _files -/; else _files; fi
	fi
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then _fossick "$@"; else compdef _fossick fossick; fi
