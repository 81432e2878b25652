# Completion of fossick for fish: fossick completion fish | source
function __fossick_complete
	set -l words (commandline -opc) (commandline -ct)
	set -l cur $words[-1]
	set -l kind
	for line in ($words[1] __complete $words[2..-1] 2>/dev/null)
		switch $line
			case ':*'
				set kind $line
			case '*'
				echo $line
		end
	end
	set -l value $cur
	set -l before ''
	if string match -q -- '-*=*' $cur
		set value (string replace -r '^[^=]*=' '' -- $cur)
		set before (string replace -r '=.*' '=' -- $cur)
	end
	switch "$kind"
		case :files
			for path in (__fish_complete_path $value)
				echo $before$path
			end
		case :dirs
			for path in (__fish_complete_directories $value '')
				echo $before$path
			end
	end
end
complete -c fossick -e
complete -c fossick -f -k -a '(__fossick_complete)'
