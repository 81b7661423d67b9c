-- A completion source for nvim-cmp. It needs no language server; where one is attached it
-- passes on what that says.
local complete = require('ctxd.complete')
local source = {}

function source.new()
  return setmetatable({}, { __index = source })
end

function source:is_available()
  return vim.bo.filetype == 'markdown'
end

function source:get_debug_name()
  return 'ctxd'
end

function source:get_trigger_characters()
  return { '[', '@', '#', '^' }
end

-- A title has blanks, so all that stands behind [[ belongs to what is completed. The marks do not:
-- what nvim-cmp compares with the items begins behind them, as their edits do.
function source:get_keyword_pattern()
  return [==[\%(\%(\[\[\)\@<=[^\[\]|#^]*\|[@#]\@<=\S*\|\k\+\)]==]
end

function source:complete(params, callback)
  local context = params.context
  local at = { row = context.cursor.row - 1, col = context.cursor.col - 1, line = context.cursor_line }
  complete.request(context.bufnr, at, function(err, items)
    if err then
      return callback(nil)
    end
    callback({ items = items, isIncomplete = true })
  end)
end

return source
