*** Settings ***
Library    ../CodeLock.py

*** Test Cases ***
Wrong Code Stays Closed
    Press    1
    ${state}=    State
    Should Be Equal    ${state}    closed

Clear Forgets What Was Entered
    [Documentation]    The C key starts again.
    FOR    ${key}    IN    2    5    C    8    0
        Press    ${key}
    END
    FOR    ${key}    IN    2    5    8    0
        Press    ${key}
    END
    ${state}=    State
    Should Be Equal    ${state}    closed    one code was entered twice
