# Completion of fossick for bash: source <(fossick completion bash)
_fossick() {
	local i word words=() cur value line kind=
	# bash splits --model=science at its =, which fossick has to see whole.
	for ((i = 1; i <= COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		if [[ $word == = || ${COMP_WORDS[i - 1]} == = ]] && ((i > 1)); then
			words[${#words[@]} - 1]+=$word
		else
			words+=("$word")
		fi
	done
	cur=${words[${#words[@]} - 1]-}
	value=$cur
	[[ $cur == -*=* ]] && value=${cur#*=}
	COMPREPLY=()
	while IFS= read -r line; do
		case $line in
		:*) kind=$line ;;
		*) line=${line%%$'\t'*}
			[[ $cur == -*=* ]] && line=${line#*=}
			COMPREPLY+=("$line") ;;
		esac
	done < <("${COMP_WORDS[0]}" __complete "${words[@]}" 2>/dev/null)
	case $kind in
	:files) compopt -o filenames 2>/dev/null
		while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "$value") ;;
	:dirs) compopt -o filenames 2>/dev/null
		while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -d -- "$value") ;;
	:list) compopt -o nospace 2>/dev/null ;;
	esac
}
complete -F _fossick fossick
